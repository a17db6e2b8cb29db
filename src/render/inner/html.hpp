// What pages for browsers are made of: elements whose text is shown and never obeyed, bars, and the picture of a step.
// No script, nothing fetched; every page is XML as well (https://www.w3.org/TR/html-polyglot/), so that anything reads
// it.
#pragma once

#include "llmcalc/render/report.hpp"
#include "render/inner/page.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

enum class Cells { numbers, texts };

class Html {
 public:
  /// \param tag  with its attributes: `td class="n"`. It is ours alone
  Html& open(std::string_view tag);
  Html& close();                                               ///< of what was opened last
  Html& text(std::string_view text);                           ///< whoever wrote it
  Html& element(std::string_view tag, std::string_view text);  ///< opened, filled and closed
  /// A row of a table; what is behind its first cell is numbers, or texts.
  Html& row(std::string_view tag, const std::vector<std::string>& cells, Cells kind = Cells::numbers);
  /// A table that may be wider than the page, up to its heads.
  Html& open_table(const std::vector<std::string>& heads, std::string_view tag = "table", Cells kind = Cells::numbers) {
    return open("div class=\"wide\"").open(tag).row("th", heads, kind);
  }
  Html& lines(std::string_view text);   ///< each as a line of its own
  Html& ours(std::string_view markup);  ///< as it is
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::vector<std::string> open_;
};

/// A page of its own with styles, and a last line that says what wrote it.
std::string html_page(std::string_view title, std::string_view version, const std::function<void(Html&)>& body);

/// A cell with options that help, each broken nowhere while a line has room for it, and small what they do and cost.
void add_change(Html& html, std::string_view options, std::string_view why);

/// A heading and a paragraph an item; nothing where there is none.
void add_list(Html& html, std::string_view heading, const std::vector<std::string>& items);

/// A fold that somebody may open: text as a terminal has it.
void add_folded(Html& html, std::string_view summary, std::string_view text);

/// Formula, numbers and source, folded under a label.
void add_why(Html& html, std::string_view label, const answer::Explanation& why);

/// The effective question: what somebody said, and folded, all of it with origins.
void add_question(Html& html, const std::vector<spec::Word>& question);

/// A part of a bar, coloured by what it holds.
struct BarPart {
  std::size_t colour;
  std::string label;
  quantity::Bytes size;
};

/// Parts beside each other over the larger of their sum and `whole`, which a mark shows.
void add_bar(Html& html, const std::vector<BarPart>& parts, quantity::Bytes whole, std::string_view said);

std::size_t colour_of(memory::Holding holding);
std::string holding_styles();  ///< a class "h<colour>" for each

/// The name that a key has for a part; the runtime's parts go by one name.
std::string_view kind_name(memory::Holding kind);

/// Memory through a step, what is alive at its phases, and the ledger; nothing of a part that there is not.
void add_memory(Html& html, const answer::Estimate& estimate, const TextStyle& style);

/// Where the time of a step goes, and what the run takes.
void add_time(Html& html, const answer::TimeAnswer& time);

/// Memory through a step as areas one on the other in a square of `picture_units`, their sum what the run needs.
class StepPicture {
 public:
  static constexpr int units = 1000;

  explicit StepPicture(const answer::Estimate& estimate);

  bool empty() const { return ends_.empty(); }
  std::string areas() const;               ///< as paths of SVG, each with its title
  bool is_timed() const;                   ///< across by time, and not by blocks
  std::optional<double> capacity() const;  ///< the height of the accelerator's, where that is in the picture
  const std::vector<memory::Holding>& kinds() const { return kinds_; }

  struct Span {
    memory::Phase phase;
    double share;  ///< of the picture's width
    std::optional<quantity::Seconds> time;
    const answer::TimelinePoint* highest;
  };
  std::vector<Span> phases() const;

 private:
  std::string area(std::size_t kind) const;
  double height_of(quantity::Bytes size) const;  ///< as a share of the picture's

  const answer::Estimate& estimate_;
  std::vector<memory::Holding> kinds_;     ///< from the bottom on; the first is what the runtime keeps beside the step
  std::vector<double> ends_;               ///< of the points, as shares of the width
  std::vector<std::vector<double>> tops_;  ///< of each kind at each point, as shares of the height
  quantity::Bytes whole_;
};

}  // namespace llmcalc::render
