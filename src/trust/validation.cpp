#include "trust/validation.hpp"

#include "quantity/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace llmcalc::trust {

namespace {

/// \pre sorted is not empty
inline double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

/// Percent is whole: 0.95 is no binary number, and 0.95 * 20 may come out above 19.
/// \pre sorted is not empty, 0 < percent <= 100
inline double nearest_rank(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(percent * sorted.size() + 99) / 100 - 1];
}

constexpr std::size_t covered_pct = 90;

/// Bars below this are of runs that repeat one another.
constexpr double narrowest = 0.01;

/// Measures of what must fit are those of the peak; what rests between steps says nothing of it.
bool is_of_need(spec::Measure measure) {
  return spec::is_memory(measure) && !spec::is_of_server(measure) && measure != spec::Measure::persistent;
}

bool is_of_step(spec::Measure measure) {
  return measure == spec::Measure::step_time || measure == spec::Measure::tokens_per_gpu;
}

/// Measured over estimated bytes or seconds.
double ratio(const Comparison& row) {
  const bool inverted = spec::is_rate(row.measure);
  return inverted ? row.predicted / row.measured : row.measured / row.predicted;
}

spec::Bias bias_of(const std::vector<double>& ratios) {
  if (static_cast<std::int64_t>(ratios.size()) < spec::Bias::fewest_runs) return {};
  std::vector<double> logarithms;
  for (const double each : ratios) logarithms.push_back(quantity::log(each));
  std::ranges::sort(logarithms);
  const double factor = quantity::exp(median(logarithms));
  std::vector<double> off;
  for (const double each : ratios) off.push_back(std::abs(each / factor - 1.0));
  std::ranges::sort(off);
  return {factor, std::max(narrowest, nearest_rank(off, covered_pct)), static_cast<std::int64_t>(ratios.size())};
}

struct Ratios {
  std::vector<double> memory;
  std::vector<double> time;
};

}  // namespace

std::vector<OwnBias> own_biases(std::span<const Comparison> rows) {
  std::map<std::string, Ratios> by_framework;
  for (const Comparison& row : rows) {
    if (!(row.measured > 0.0) || !(row.predicted > 0.0)) continue;
    Ratios& own = by_framework[row.groups.front()];
    if (is_of_need(row.measure)) own.memory.push_back(ratio(row));
    if (is_of_step(row.measure)) own.time.push_back(ratio(row));
  }
  std::vector<OwnBias> biases;
  for (const auto& [framework, own] : by_framework) {
    biases.push_back({framework,
                      {bias_of(own.memory), bias_of(own.time)},
                      static_cast<std::int64_t>(own.memory.size()),
                      static_cast<std::int64_t>(own.time.size())});
  }
  return biases;
}

bool Comparison::inside_bar() const {
  return measured >= predicted * (1.0 - bar.below) && measured <= predicted * (1.0 + bar.above);
}

Summary summarize(std::span<const Comparison> rows) {
  Summary s;
  if (rows.empty()) return s;
  std::vector<double> errors;
  double inside = 0.0;
  for (const Comparison& row : rows) {
    errors.push_back(std::abs(row.error_pct()));
    s.bias_pct += row.error_pct();
    if (row.inside_bar()) inside += 1.0;
  }
  std::ranges::sort(errors);
  for (const double error : errors) s.mean_abs_pct += error;
  const auto n = static_cast<double>(rows.size());
  s.n = static_cast<std::int64_t>(rows.size());
  s.mean_abs_pct /= n;
  s.bias_pct /= n;
  s.inside_bar_pct = 100.0 * inside / n;
  s.median_abs_pct = median(errors);
  s.p95_abs_pct = nearest_rank(errors, 95);
  s.max_abs_pct = errors.back();
  return s;
}

std::vector<Comparison> by_configuration(std::span<const Comparison> rows) {
  std::vector<Comparison> single;
  std::map<std::string, std::vector<Comparison>> repeated;
  for (const Comparison& row : rows) {
    if (row.configuration.empty()) {
      single.push_back(row);
    } else {
      repeated[row.configuration].push_back(row);
    }
  }
  for (const auto& [configuration, members] : repeated) {
    Comparison one = members.front();
    std::vector<double> ratios;
    for (const Comparison& member : members) ratios.push_back(member.predicted / member.measured);
    std::ranges::sort(ratios);
    one.predicted = median(ratios) * one.measured;
    single.push_back(one);
  }
  return single;
}

std::vector<RowGroup> group(std::span<const Comparison> rows, const std::vector<std::string>& columns) {
  std::vector<RowGroup> groups;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::map<std::string, std::vector<Comparison>> by_value;
    for (const Comparison& row : rows) by_value[row.groups[i]].push_back(row);
    for (const auto& [value, members] : by_value) groups.push_back({columns[i], value, summarize(members)});
  }
  return groups;
}

std::string_view id_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::true_fit: return "true_fit";
    case Judgement::false_fit: return "false_fit";
    case Judgement::true_miss: return "true_miss";
    case Judgement::false_miss: return "false_miss";
  }
  return {};
}

Judgement judgement_on(bool fitted, VerdictKind predicted) {
  if (fitted) return predicted == VerdictKind::does_not_fit ? Judgement::false_miss : Judgement::true_fit;
  return predicted == VerdictKind::fits ? Judgement::false_fit : Judgement::true_miss;
}

std::int64_t count(std::span<const JudgedRun> runs, Judgement judgement) {
  return std::ranges::count(runs, judgement, &JudgedRun::judgement);
}

void SkippedRows::add(const std::string& reason, const std::string& place) {
  Skipped& skipped = by_reason_.try_emplace(reason, Skipped{reason, 0, place}).first->second;
  ++skipped.count;
}

std::vector<Skipped> SkippedRows::most_frequent_first() const {
  std::vector<Skipped> all;
  for (const auto& [reason, skipped] : by_reason_) all.push_back(skipped);
  std::ranges::stable_sort(all, std::ranges::greater(), &Skipped::count);
  return all;
}

}  // namespace llmcalc::trust
