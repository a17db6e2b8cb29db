#include "llmcalc/answer/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace llmcalc::answer {

namespace {

/// \pre sorted is not empty
double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

/// The bar stands around the prediction, which is what a person sees.
bool Comparison::inside_bar() const { return std::abs(measured - predicted) <= bar_share * predicted; }

Summary summarize(std::span<const Comparison> rows) {
  Summary s;
  if (rows.empty()) return s;
  constexpr double high_share = 0.95;
  std::vector<double> errors;
  double inside = 0.0;
  for (const Comparison& row : rows) {
    errors.push_back(std::abs(row.error_pct()));
    s.mean_abs_pct += errors.back();
    s.bias_pct += row.error_pct();
    if (row.inside_bar()) inside += 1.0;
  }
  std::ranges::sort(errors);
  const auto n = static_cast<double>(rows.size());
  s.n = static_cast<std::int64_t>(rows.size());
  s.mean_abs_pct /= n;
  s.bias_pct /= n;
  s.inside_bar_pct = 100.0 * inside / n;
  s.median_abs_pct = median(errors);
  s.p95_abs_pct = nearest_rank(errors, high_share);
  s.max_abs_pct = errors.back();
  return s;
}

std::vector<Group> group(std::span<const Comparison> rows, const std::vector<std::string>& columns) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::map<std::string, std::vector<Comparison>> by_value;
    for (const Comparison& row : rows) by_value[row.groups[i]].push_back(row);
    for (const auto& [value, members] : by_value) groups.push_back({columns[i], value, summarize(members)});
  }
  return groups;
}

void Verdicts::count(bool fitted, VerdictKind predicted) {
  if (fitted) {
    ++(predicted == VerdictKind::does_not_fit ? false_miss : true_fit);
  } else {
    ++(predicted == VerdictKind::fits ? false_fit : true_miss);
  }
}

void Validation::skip(const std::string& reason) {
  const auto found = std::ranges::find(skipped, reason, &Skipped::reason);
  if (found == skipped.end()) {
    skipped.push_back({reason, 1});
  } else {
    ++found->count;
  }
  std::ranges::stable_sort(skipped, std::ranges::greater(), &Skipped::count);
}

}  // namespace llmcalc::answer
