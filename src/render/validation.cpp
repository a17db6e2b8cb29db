// `llmcalc validate` for people.
//
//   row      quantity         measured   predicted  error %
//   fms-025  peak_allocated  67.46 GiB   67.46 GiB     0.00
//
//   by    n  mean %  median %  p95 %  max %  bias %  in bar %
//   all   1    0.00      0.00   0.00   0.00    0.00    100.00
#include "render/answers.hpp"
#include "render/foreign.hpp"
#include "render/inner/page.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace llmcalc::render {
namespace {

using Cells = std::vector<std::string>;
using trust::JudgedRun;
using trust::Judgement;
using trust::Summary;

std::string percent(double value) { return fmt::format("{:.2f}", value); }

std::string signed_percent(double value) {
  constexpr double rounds_to_nothing = 0.005;
  return std::abs(value) < rounds_to_nothing ? "0.00" : fmt::format("{:+.2f}", value);
}

Cells summary_cells(std::string by, std::string value, const Summary& s) {
  return {std::move(by),           std::move(value),           std::to_string(s.n),
          percent(s.mean_abs_pct), percent(s.median_abs_pct),  percent(s.p95_abs_pct),
          percent(s.max_abs_pct),  signed_percent(s.bias_pct), percent(s.inside_bar_pct)};
}

/// Rows need no id.
template <class Row>
const std::string& name_of_row(const Row& row) {
  return row.id.empty() ? row.place : row.id;
}

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// " (a, b)": the runs on which that judgement was passed; empty when there are none.
std::string named(const std::vector<JudgedRun>& runs, Judgement judgement) {
  std::string names;
  for (const auto& run : runs) {
    if (run.judgement == judgement) names.append(names.empty() ? " (" : ", ").append(name_of_row(run));
  }
  return names.empty() ? names : names + ")";
}

/// A measured or predicted number in the unit that suits the measured one.
std::string number(const trust::Comparison& row, double value) {
  if (spec::is_time(row.measure)) return fmt::format("{:.4g} s", value);
  if (spec::is_rate(row.measure)) return fmt::format("{:.5g} tokens/s", value);
  if (!spec::is_memory(row.measure)) return fmt::format("{:.8g}", value);
  const auto unit = memory_unit_for(quantity::bytes(static_cast<std::int64_t>(row.measured)));
  return fmt::format("{} {}", in_unit(quantity::bytes(static_cast<std::int64_t>(value)), unit), unit.name);
}

Cells row_header() { return {"row", "quantity", "measured", "predicted", "error %"}; }

Cells row_cells(const trust::Comparison& row) {
  return {name_of_row(row), std::string(spec::name_of(row.measure)), number(row, row.measured),
          number(row, row.predicted), signed_percent(row.error_pct())};
}

Cells summary_header() { return {"by", "", "n", "mean %", "median %", "p95 %", "max %", "bias %", "in bar %"}; }

std::vector<Cells> summary_rows(const trust::Validation& validation) {
  std::vector<Cells> rows{summary_cells("all", "", validation.summary)};
  if (validation.configurations.n > 0 && validation.configurations.n < validation.summary.n) {
    rows.push_back(summary_cells("all", "as configurations", validation.configurations));
  }
  for (const auto& group : validation.groups) {
    rows.push_back(summary_cells(group.by, group.value.empty() ? "(blank)" : group.value, group.summary));
  }
  return rows;
}

std::string verdict_sentence(const std::vector<JudgedRun>& runs) {
  return fmt::format(
      "{}, {}{}, {}, {}{}", counted(count(runs, Judgement::true_fit), "true fit", "true fits"),
      counted(count(runs, Judgement::false_fit), "false fit", "false fits"), named(runs, Judgement::false_fit),
      counted(count(runs, Judgement::true_miss), "true miss", "true misses"),
      counted(count(runs, Judgement::false_miss), "false miss", "false misses"), named(runs, Judgement::false_miss));
}

std::string skipped_sentence(const trust::Skipped& skipped) {
  return fmt::format("{}: {} (first in {})", skipped.count, skipped.reason, skipped.first_place);
}

std::string row_table(const trust::Validation& validation) {
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right});
  table.add_row(row_header());
  for (const auto& row : validation.rows) table.add_row(row_cells(row));
  return table.render();
}

std::string summary_table(const trust::Validation& validation) {
  std::vector<Align> columns(summary_header().size(), Align::right);
  columns[0] = columns[1] = Align::left;
  Table table(std::move(columns));
  table.add_row(summary_header());
  for (auto& cells : summary_rows(validation)) table.add_row(std::move(cells));
  return table.render();
}

/// Two columns of words and then figures.
std::string table(const Cells& header, const std::vector<Cells>& rows) {
  Cells alignment(header.size(), "---:");
  alignment[0] = alignment[1] = "---";
  std::string text = markdown_row(header) + markdown_row(alignment);
  for (const auto& row : rows) text += markdown_row(row);
  return text;
}

std::vector<Cells> furthest_rows(const std::vector<trust::Comparison>& rows) {
  constexpr std::size_t shown = 15;
  const auto distance = [](const trust::Comparison& row) { return std::abs(row.error_pct()); };
  std::vector<trust::Comparison> sorted = rows;
  std::ranges::stable_sort(sorted, std::ranges::greater(), distance);
  sorted.resize(std::min(sorted.size(), shown));
  return quantity::mapped(sorted, row_cells);
}

}  // namespace

std::string to_text(const trust::Validation& validation) {
  std::string text;
  if (!validation.rows.empty()) text = row_table(validation) + "\n" + summary_table(validation) + "\n";
  if (!validation.judged.empty()) text += "  verdicts: " + one_line(verdict_sentence(validation.judged)) + "\n";
  for (const auto& skipped : validation.skipped) text += "  skipped " + one_line(skipped_sentence(skipped)) + "\n";
  return text.empty() ? "  no rows\n" : on_screen(text);
}

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
