#include "trust/calibration.hpp"

#include "trust/inner/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace llmcalc::trust {

namespace {

constexpr std::size_t covered_pct = 90;

/// Bars below this are of runs that repeat one another.
constexpr double narrowest = 0.01;

/// What must fit goes by the peak; what rests between steps says nothing of it.
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
  for (const double each : ratios) logarithms.push_back(std::log(each));
  std::ranges::sort(logarithms);
  const double factor = std::exp(median(logarithms));
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

}  // namespace llmcalc::trust
