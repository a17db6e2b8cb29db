#include "render/inner/validation_cells.hpp"

#include "render/inner/memory_unit.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

namespace llmcalc::render {
namespace {

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

}  // namespace

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

}  // namespace llmcalc::render
