#include "render/inner/table.hpp"

#include "render/foreign.hpp"
#include "render/inner/width.hpp"
#include "render/inner/wrap.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::render {
namespace {

constexpr std::string_view column_gap = "  ";

}  // namespace

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

}  // namespace llmcalc::render
