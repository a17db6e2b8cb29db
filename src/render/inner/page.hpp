// What pages of text are made of: colours, bars, prose in lines, units of memory, tables and cards.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/render/report.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace llmcalc::render {

enum class Ink { heading, dim, good, caution, bad };

/// `text` in that ink, or as it is when the style has no colour.
std::string paint(std::string_view text, Ink ink, const TextStyle& style);

/// The code with which `text` begins, one of those that `paint` writes; empty where it begins with none.
std::string_view colour_at(std::string_view text);

/// The width of a share's bar in a table.
constexpr int bar_columns = 20;

/// A bar of `columns` for the whole, drawn in eighths of a column (Unicode block elements U+2588 to U+258F).
std::string bar(double share, int columns);

/// A gauge of what is used of a whole, what is free, and what is beyond it, as a line for a terminal; empty where bars
/// are not drawn.
std::vector<std::string> gauge(quantity::Bytes needed, quantity::Bytes whole, const TextStyle& style);

/// Columns of UTF-8 `text`: two for wide East Asian characters and emoji, none for combining marks and colour codes
/// (ESC [ ... m). Bytes that are not UTF-8 count one column each.
std::size_t display_width(std::string_view text);

inline constexpr std::size_t page_columns = 80;

/// `text` broken at spaces so that no line reaches beyond `end`, where the first begins at column `start` and the
/// others at `indent`. A word that is wider than a line stands on one of its own.
std::string wrapped(std::string_view text, std::size_t start, std::size_t indent, std::size_t end = page_columns);

/// Text cut at its line breaks.
std::vector<std::string> lines_of(std::string_view text);

/// Whether a line of it reaches beyond the page.
bool is_too_wide(std::string_view text);

/// Prose as the lines of a page, all of them indented.
std::vector<std::string> page_lines(std::string_view text, std::size_t indent);

struct MemoryUnit {
  std::string_view name;
  quantity::Bytes size;
};

/// The largest binary unit of MiB, GiB, TiB, PiB and EiB that is not larger than `largest`; MiB at the least.
MemoryUnit memory_unit_for(quantity::Bytes largest);

/// The unit of that name, binary or decimal: "GiB" is 2^30 bytes, "GB" 10^9. Empty where there is none.
std::optional<MemoryUnit> find_memory_unit(std::string_view name);

/// "71.30" of that unit.
std::string in_unit(quantity::Bytes value, const MemoryUnit& unit);

/// A share of a whole in words: "21 %", "<1 %" when it would round to nothing, "0 %" when it is nothing.
std::string share_text(double share);

/// An error bar in words: "±21 %", and "-21 to +95 %" where it reaches further above.
std::string spread_text(const trust::Spread& spread);

enum class Align { left, right };

/// Columns are as wide as their widest cell and stand two columns apart; no line ends in spaces.
class Table {
 public:
  /// \param columns  the alignment of each column
  explicit Table(std::vector<Align> columns, std::string indent = "  ");

  /// \pre cells.size() is at most the number of columns; missing cells are empty
  void add_row(std::vector<std::string> cells);

  /// A line across the table that takes no part in the widths of columns.
  void add_line(std::string text);

  /// Prose in as many lines as a page needs.
  void add_prose(std::size_t indent, std::string_view text);

  /// The last column is prose: what is too wide for the page goes on below it.
  void wrap_last_column() { wraps_ = true; }

  std::string render() const;

 private:
  using Row = std::vector<std::string>;

  std::vector<std::size_t> widths() const;
  std::string render_row(const Row& row, const std::vector<std::size_t>& widths) const;

  std::vector<Align> columns_;
  std::string indent_;
  std::vector<std::variant<Row, std::string>> lines_;
  bool wraps_ = false;
};

/// A line of a Markdown table.
std::string markdown_row(const std::vector<std::string>& cells);

class Card {
 public:
  explicit Card(std::string_view title);

  void add(std::string_view label, std::string value);
  void add_heading(std::string_view heading);
  std::string render() const { return table_.render(); }

 private:
  Table table_;
};

/// The number as text; empty for 0, which stands for "does not apply".
std::string unless_zero(std::int64_t value);

}  // namespace llmcalc::render
