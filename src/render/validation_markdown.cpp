// `llmcalc validate` for docs/accuracy.md.
#include "render/foreign.hpp"
#include "render/inner/validation_cells.hpp"
#include "render/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace llmcalc::render {
namespace {

std::string line(const Cells& cells) {
  std::string text = "|";
  for (const auto& cell : cells) text += " " + shown(cell, Medium::markdown) + " |";
  return text + "\n";
}

/// Two columns of words and then figures.
std::string table(const Cells& header, const std::vector<Cells>& rows) {
  Cells alignment(header.size(), "---:");
  alignment[0] = alignment[1] = "---";
  std::string text = line(header) + line(alignment);
  for (const auto& row : rows) text += line(row);
  return text;
}

std::vector<Cells> furthest_rows(const std::vector<trust::Comparison>& rows) {
  constexpr std::size_t shown = 15;
  const auto distance = [](const trust::Comparison& row) { return std::abs(row.error_pct()); };
  std::vector<trust::Comparison> sorted = rows;
  std::ranges::stable_sort(sorted, std::ranges::greater(), distance);
  sorted.resize(std::min(sorted.size(), shown));
  std::vector<Cells> cells;
  for (const auto& row : sorted) cells.push_back(row_cells(row));
  return cells;
}

}  // namespace

std::string to_markdown(const trust::Validation& validation) {
  std::vector<std::string> parts;
  if (!validation.rows.empty()) parts.push_back(table(summary_header(), summary_rows(validation)));
  if (!validation.judged.empty())
    parts.push_back("Verdicts: " + shown(verdict_sentence(validation.judged), Medium::markdown) + ".\n");
  for (const auto& skipped : validation.skipped)
    parts.push_back("Not compared, " + shown(skipped_sentence(skipped), Medium::markdown) + ".\n");
  if (!validation.rows.empty())
    parts.push_back("Furthest off:\n\n" + table(row_header(), furthest_rows(validation.rows)));
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace llmcalc::render
