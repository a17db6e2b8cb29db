// How far predictions are from measurements: errors, their summary, and verdicts that were right or wrong.
#pragma once

#include "llmcalc/spec/measured_here.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "spec/measurement.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::trust {

/// One measured row with its prediction.
struct Comparison {
  std::string id;
  std::string place;  ///< "runs.csv:12"
  spec::Measure measure = spec::Measure::peak_allocated;
  double measured = 0.0;  ///< bytes, seconds, or tokens a second and accelerator; more than 0
  double predicted = 0.0;
  Spread bar;                       ///< as stated
  std::string configuration;        ///< rows that repeat one run over releases share it; empty: a run of its own
  std::vector<std::string> groups;  ///< the row's value of each column that is grouped by

  double error_pct() const { return 100.0 * ((predicted - measured) / measured); }
  /// The bar stands around the prediction, which is what a person sees.
  bool inside_bar() const;
};

/// Summary of absolute percent errors; all zero when n is 0.
struct Summary {
  std::int64_t n = 0;
  double mean_abs_pct = 0.0;
  double median_abs_pct = 0.0;
  double p95_abs_pct = 0.0;  ///< nearest rank: the smallest error that at least 95 % of the rows do not exceed
  double max_abs_pct = 0.0;
  double bias_pct = 0.0;  ///< mean of the signed errors
  double inside_bar_pct = 0.0;
};

Summary summarize(std::span<const Comparison> rows);

/// One row for each configuration: the medians over the rows that repeat it.
std::vector<Comparison> by_configuration(std::span<const Comparison> rows);

struct RowGroup {
  std::string by;
  std::string value;
  Summary summary;
};

/// One group for each value of each grouped column, values in alphabetical order.
/// \param columns  names of the columns, in the order of Comparison::groups
std::vector<RowGroup> group(std::span<const Comparison> rows, const std::vector<std::string>& columns);

enum class Judgement {
  true_fit,
  false_fit,  ///< said to fit, but ran out of memory
  true_miss,
  false_miss,  ///< said not to fit, but ran
};

std::string_view id_of(Judgement judgement);  ///< "true_fit", ...

/// A tight prediction leaves it open and is right either way: only "fits" of a run that did not, and "does not fit" of
/// one that did, are false.
Judgement judgement_on(bool fitted, VerdictKind predicted);

/// A run of which is only known whether it fitted.
struct JudgedRun {
  std::string id;
  std::string place;
  Judgement judgement = Judgement::true_fit;
};

std::int64_t count(std::span<const JudgedRun> runs, Judgement judgement);

struct Skipped {
  std::string reason;
  std::int64_t count = 0;
  std::string first_place;
};

/// Why rows could not be compared, equal reasons counted together.
class SkippedRows {
 public:
  void add(const std::string& reason, const std::string& place);
  std::vector<Skipped> most_frequent_first() const;

 private:
  std::map<std::string, Skipped> by_reason_;
};

struct Validation {
  Summary summary;
  Summary configurations;  ///< the same with each repeated configuration as one row
  std::vector<RowGroup> groups;
  std::vector<Comparison> rows;
  std::vector<JudgedRun> judged;
  std::vector<Skipped> skipped;  ///< most frequent first
};

struct OwnBias {
  std::string framework;
  spec::Calibration calibration;
  std::int64_t memory_runs = 0;  ///< that were compared, be they enough or not
  std::int64_t time_runs = 0;
};

/// Bias of each framework with enough runs of what must fit, or of the time of a step: the median of the logarithms of
/// measured over estimated, which no single run moves far, and how far from it nine in ten runs lie.
/// \pre the first group of each row is its framework
std::vector<OwnBias> own_biases(std::span<const Comparison> rows);

}  // namespace llmcalc::trust
