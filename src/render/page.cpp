#include "render/inner/page.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "render/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace llmcalc::render {
namespace {

/// Select Graphic Rendition (ECMA-48, 8.3.117).
constexpr std::string_view colour_off = "\x1b[0m";

constexpr std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::heading: return "\x1b[1m";
    case Ink::dim: return "\x1b[2m";
    case Ink::good: return "\x1b[1;32m";
    case Ink::caution: return "\x1b[1;33m";
    case Ink::bad: return "\x1b[1;31m";
  }
  return colour_off;
}

struct WidthRange {
  char32_t first;
  char32_t last;
};

// Unicode Standard Annex #11, East Asian Width: the blocks whose characters are W or F.
constexpr std::array wide_ranges{
    WidthRange{0x1100, 0x115F},    // Hangul Jamo
    WidthRange{0x2E80, 0xA4CF},    // CJK radicals to Yi
    WidthRange{0xAC00, 0xD7A3},    // Hangul syllables
    WidthRange{0xF900, 0xFAFF},    // CJK compatibility ideographs
    WidthRange{0xFE30, 0xFE6F},    // CJK compatibility forms
    WidthRange{0xFF00, 0xFF60},    // fullwidth forms
    WidthRange{0xFFE0, 0xFFE6},    // fullwidth signs
    WidthRange{0x1F300, 0x1F64F},  // pictographs and emoticons
    WidthRange{0x1F900, 0x1F9FF},  // supplemental pictographs
    WidthRange{0x20000, 0x3FFFD},  // supplementary ideographic planes
};

// Unicode blocks of marks that are drawn over the character before them, and the zero-width characters.
constexpr std::array zero_ranges{
    WidthRange{0x0300, 0x036F},  // combining diacritical marks
    WidthRange{0x200B, 0x200F},  // zero-width space and joiners
    WidthRange{0x20D0, 0x20FF},  // combining marks for symbols
    WidthRange{0xFE00, 0xFE0F},  // variation selectors
};

bool contains(std::span<const WidthRange> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](WidthRange r) { return r.first <= c && c <= r.last; });
}

/// Bytes of the colour code that `text` begins with, or 0.
std::size_t colour_code_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::size_t columns_of(char32_t c) {
  if (c < zero_ranges.front().first) return 1;  // what nearly all text is
  if (contains(zero_ranges, c)) return 0;
  return contains(wide_ranges, c) ? 2 : 1;
}

using quantity::Bytes;

constexpr std::array binary_units{
    MemoryUnit{"MiB", quantity::mib(1)},
    MemoryUnit{"GiB", quantity::gib(1)},
    MemoryUnit{"TiB", quantity::gib(quantity::kibi)},
    MemoryUnit{"PiB", quantity::gib(quantity::mebi)},
    MemoryUnit{"EiB", quantity::gib(quantity::gibi)},
};

constexpr std::array decimal_units{
    MemoryUnit{"MB", quantity::bytes(1'000'000)},
    MemoryUnit{"GB", quantity::bytes(1'000'000'000)},
    MemoryUnit{"TB", quantity::bytes(1'000'000'000'000)},
};

constexpr std::string_view column_gap = "  ";

}  // namespace

std::string_view colour_at(std::string_view text) {
  if (text.front() != colour_off.front()) return {};
  for (const auto ink : {Ink::heading, Ink::dim, Ink::good, Ink::caution, Ink::bad}) {
    if (text.starts_with(code_of(ink))) return code_of(ink);
  }
  return text.starts_with(colour_off) ? colour_off : std::string_view();
}

std::string paint(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || text.empty()) return std::string(text);
  return std::string(code_of(ink)).append(text).append(colour_off);
}

std::string bar(double share, int columns) {
  constexpr int eighths_per_column = 8;
  static constexpr std::array<std::string_view, eighths_per_column> partial{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * eighths_per_column));
  std::string drawn;
  for (int i = 0; i < eighths / eighths_per_column; ++i) drawn += "█";
  return drawn.append(partial[static_cast<std::size_t>(eighths % eighths_per_column)]);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    if (const auto code = colour_code_bytes(text); code > 0) {
      text.remove_prefix(code);
      continue;
    }
    const auto c = quantity::first_code_point(text);
    columns += columns_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string wrapped(std::string_view text, std::size_t start, std::size_t indent, std::size_t end) {
  std::string result;
  std::size_t column = start;
  while (!text.empty()) {
    const auto word = one_line(quantity::take_until(text, " "));
    const auto width = display_width(word);
    if (!result.empty() && column + 1 + width > end) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
  }
  return result;
}

std::vector<std::string> lines_of(std::string_view text) {
  return quantity::mapped(quantity::pieces_of(text, "\n"), [](std::string_view line) { return std::string(line); });
}

bool is_too_wide(std::string_view text) {
  return std::ranges::any_of(quantity::pieces_of(text, "\n"),
                             [](std::string_view line) { return display_width(line) > page_columns; });
}

std::vector<std::string> page_lines(std::string_view text, std::size_t indent) {
  return lines_of(std::string(indent, ' ') + wrapped(text, indent, indent));
}

std::optional<MemoryUnit> find_memory_unit(std::string_view name) {
  const auto* unit = quantity::find_or_null(binary_units, name, &MemoryUnit::name);
  if (unit == nullptr) unit = quantity::find_or_null(decimal_units, name, &MemoryUnit::name);
  return unit == nullptr ? std::nullopt : std::optional(*unit);
}

MemoryUnit memory_unit_for(Bytes largest) {
  const auto fills = [&](const MemoryUnit& unit) { return unit.size <= largest; };
  const auto* unit = quantity::find_last_if_or_null(binary_units, fills);
  return unit == nullptr ? binary_units.front() : *unit;
}

std::string in_unit(Bytes value, const MemoryUnit& unit) { return fmt::format("{:.2f}", value / unit.size); }

std::string share_text(double share) {
  constexpr double rounds_to_nothing = 0.005;  // half a percent, which "{:.0f}" rounds to the even 0
  if (share > 0 && share <= rounds_to_nothing) return "<1 %";
  return fmt::format("{:.0f} %", share * 100);
}

std::string spread_text(const trust::Spread& spread) {
  const auto below = share_text(spread.below);
  const auto above = share_text(spread.above);
  return below == above ? "±" + below : fmt::format("-{:.0f} to +{}", 100.0 * spread.below, above);
}

Table::Table(std::vector<Align> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {}

void Table::add_row(std::vector<std::string> cells) {
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
  for (auto& cell : cells) cell = one_line(cell);
  lines_.emplace_back(std::move(cells));
}

void Table::add_line(std::string text) { lines_.emplace_back(std::move(text)); }

void Table::add_prose(std::size_t indent, std::string_view text) {
  add_line(std::string(indent, ' ') + wrapped(text, indent, indent));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines_) {
    const auto* row = std::get_if<Row>(&line);
    if (row == nullptr) continue;
    for (std::size_t i = 0; i < row->size(); ++i) widths[i] = std::max(widths[i], display_width((*row)[i]));
  }
  return widths;
}

std::string Table::render_row(const Row& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  std::size_t column = indent_.size();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string padding(widths[i] - display_width(row[i]), ' ');
    const bool is_last = i + 1 == row.size();
    line += i == 0 ? indent_ : std::string(column_gap);
    if (columns_[i] == Align::right) line += padding;
    const bool is_remark = wraps_ && i + 1 == columns_.size();
    line += is_remark ? wrapped(row[i], column, column) : row[i];
    if (columns_[i] == Align::left && !is_last) line += padding;
    column += widths[i] + column_gap.size();
  }
  return line;
}

std::string Table::render() const {
  const auto column_widths = widths();
  std::string text;
  for (const auto& line : lines_) {
    const auto* row = std::get_if<Row>(&line);
    text += row != nullptr ? render_row(*row, column_widths) : std::get<std::string>(line);
    text += '\n';
  }
  return text;
}

Card::Card(std::string_view title) : table_({Align::left, Align::left}) {
  table_.wrap_last_column();
  table_.add_line(std::string(title));
}

void Card::add(std::string_view label, std::string value) {
  if (!value.empty()) table_.add_row({std::string(label), std::move(value)});
}

void Card::add_heading(std::string_view heading) {
  table_.add_line({});
  table_.add_line("  " + std::string(heading));
}

std::string unless_zero(std::int64_t value) { return value == 0 ? std::string() : std::to_string(value); }

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += " " + shown(cell, Medium::markdown) + " |";
  return row + "\n";
}

std::vector<std::string> gauge(quantity::Bytes needed, quantity::Bytes whole, const TextStyle& style) {
  constexpr int columns = 64;
  if (!style.bars || whole <= quantity::Bytes{} || needed < quantity::Bytes{}) return {};
  const double share = needed / whole;
  const auto within = static_cast<int>(std::lround(columns * std::min(share, 1.0) / std::max(share, 1.0)));
  const auto drawn = [](int count, std::string_view block) {
    std::string text;
    for (int i = 0; i < count; ++i) text += block;
    return text;
  };
  const auto rest = drawn(columns - within, share > 1.0 ? "▒" : "░");
  const auto said = share > 1.0 ? fmt::format("  {:.2g} x", share) : "  " + share_text(share);
  return {"  " + paint(drawn(within, "█"), share > 1.0 ? Ink::dim : Ink::good, style) +
          paint(rest, share > 1.0 ? Ink::bad : Ink::dim, style) + said};
}

}  // namespace llmcalc::render
