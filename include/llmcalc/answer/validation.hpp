// How far predictions are from measurements: errors, their summary, and verdicts that were right or wrong.
#pragma once

#include "llmcalc/answer/estimate.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace llmcalc::answer {

/// One measured row with its prediction.
struct Comparison {
  std::string id;
  std::string quantity;
  double measured = 0.0;
  double predicted = 0.0;
  double bar_share = 0.0;            ///< half width of the stated error bar
  std::vector<std::string> groups;   ///< the row's value of each column that is grouped by

  double error_pct() const { return 100.0 * (predicted - measured) / measured; }
  bool inside_bar() const;
};

/// Of absolute percent errors; zero everywhere when n is 0.
struct Summary {
  std::int64_t n = 0;
  double mean_abs_pct = 0.0;
  double median_abs_pct = 0.0;
  double p95_abs_pct = 0.0;  ///< nearest rank: the smallest error that at least 95 % of the rows do not exceed
  double max_abs_pct = 0.0;
  double bias_pct = 0.0;     ///< mean of the signed errors
  double inside_bar_pct = 0.0;
};

Summary summarize(std::span<const Comparison> rows);

struct Group {
  std::string by;
  std::string value;
  Summary summary;
};

/// One group for each value of each grouped column, values in alphabetical order.
/// \param columns  names of the columns, in the order of Comparison::groups
std::vector<Group> group(std::span<const Comparison> rows, const std::vector<std::string>& columns);

/// Runs of which is only known whether they fitted. A tight prediction leaves it open and is right either way: only
/// "fits" of a run that did not, and "does not fit" of one that did, are false.
struct Verdicts {
  std::int64_t true_fit = 0;
  std::int64_t false_fit = 0;   ///< said to fit, but ran out of memory
  std::int64_t true_miss = 0;
  std::int64_t false_miss = 0;  ///< said not to fit, but ran

  void count(bool fitted, VerdictKind predicted);
};

struct Skipped {
  std::string reason;
  std::int64_t count = 0;
};

struct Validation {
  Summary summary;
  std::vector<Group> groups;
  Verdicts verdicts;
  std::vector<Comparison> rows;
  std::vector<Skipped> skipped;  ///< most frequent first

  void skip(const std::string& reason);
};

}  // namespace llmcalc::answer
