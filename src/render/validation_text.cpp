#include "llmcalc/quantity/format.hpp"
#include "llmcalc/render/validation.hpp"
#include "render/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::render {
namespace {

using answer::Comparison;
using answer::Summary;
using answer::Validation;

std::string percent(double value) { return fmt::format("{:.2f}", value); }

std::string figure(double value) { return quantity::format_count(static_cast<std::int64_t>(std::llround(value))); }

std::vector<std::string> summary_cells(std::string by, std::string value, const Summary& s) {
  return {std::move(by),          std::move(value),       std::to_string(s.n),    percent(s.mean_abs_pct),
          percent(s.median_abs_pct), percent(s.p95_abs_pct), percent(s.max_abs_pct), fmt::format("{:+.2f}", s.bias_pct),
          percent(s.inside_bar_pct)};
}

std::vector<std::vector<std::string>> summary_rows(const Validation& v) {
  std::vector<std::vector<std::string>> rows{summary_cells("all", "", v.summary)};
  for (const auto& group : v.groups) rows.push_back(summary_cells(group.by, group.value, group.summary));
  return rows;
}

const std::vector<std::string> summary_header{"by", "", "n", "mean %", "median %", "p95 %", "max %", "bias %", "in bar %"};

Table summary_table() {
  std::vector<Align> columns(summary_header.size(), Align::right);
  columns[0] = columns[1] = Align::left;
  Table table(std::move(columns));
  table.add_row(summary_header);
  return table;
}

std::string verdict_line(const answer::Verdicts& v) {
  return fmt::format("verdicts: {} true fits, {} false fits, {} true misses, {} false misses", v.true_fit, v.false_fit,
                     v.true_miss, v.false_miss);
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::string text = markdown_row(header) + markdown_row(std::vector<std::string>(header.size(), "---"));
  for (const auto& row : rows) text += markdown_row(row);
  return text;
}

std::vector<std::string> row_cells(const Comparison& row) {
  return {row.id, row.quantity, figure(row.measured), figure(row.predicted), fmt::format("{:+.2f}", row.error_pct())};
}

const std::vector<std::string> row_header{"row", "quantity", "measured", "predicted", "error %"};

/// The rows that are furthest off.
std::vector<std::vector<std::string>> worst_rows(const Validation& v) {
  constexpr std::size_t shown = 15;
  std::vector<Comparison> rows = v.rows;
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Comparison& r) { return std::abs(r.error_pct()); });
  rows.resize(std::min(rows.size(), shown));
  std::vector<std::vector<std::string>> cells;
  for (const Comparison& row : rows) cells.push_back(row_cells(row));
  return cells;
}

}  // namespace

std::string to_text(const Validation& v) {
  Table rows({Align::left, Align::left, Align::right, Align::right, Align::right});
  rows.add_row(row_header);
  for (const Comparison& row : v.rows) rows.add_row(row_cells(row));
  Table summary = summary_table();
  for (auto& cells : summary_rows(v)) summary.add_row(std::move(cells));
  std::string text = rows.render() + "\n" + summary.render() + "\n  " + verdict_line(v.verdicts) + "\n";
  for (const auto& skipped : v.skipped) text += fmt::format("  skipped {}: {}\n", skipped.count, skipped.reason);
  return text;
}

std::string to_markdown(const Validation& v) {
  std::string text = markdown_table(summary_header, summary_rows(v));
  text += "\n" + verdict_line(v.verdicts) + ".\n";
  for (const auto& skipped : v.skipped) text += fmt::format("\nNot answered, {} rows: {}.\n", skipped.count, skipped.reason);
  if (!v.rows.empty()) text += "\nFurthest off:\n\n" + markdown_table(row_header, worst_rows(v));
  return text;
}

}  // namespace llmcalc::render
