// Measured runs answered one by one, and how far off the answers were.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "read/measured.hpp"
#include "read/presets.hpp"
#include "serving/answer.hpp"
#include "trust/validation.hpp"

#include <string>
#include <vector>

namespace llmcalc::api {

class Validator {
 public:
  /// \param by  the columns to group by
  Validator(const read::Catalogue& catalogue, std::vector<std::string> by);

  /// Answers the row as `fit` answers the same words, or `serve` where it names an engine; one that cannot be answered
  /// is counted with its reason.
  void take(const read::MeasuredRun& run);

  /// Counts a row that nobody waited for.
  void leave_out(const read::MeasuredRun& run);

  trust::Validation finish() &&;

 private:
  void compare(const read::MeasuredRun& run, const answer::Estimate& estimate);
  void compare_server(const read::MeasuredRun& run);
  void judge_server(const read::MeasuredRun& run, const serving::ServingAnswer& server);
  void judge(const read::MeasuredRun& run, trust::VerdictKind verdict);
  std::vector<std::string> groups_of(const read::MeasuredRun& run) const;

  const read::Catalogue& catalogue_;
  std::vector<std::string> by_;
  trust::Validation validation_;
  trust::SkippedRows skipped_;
};

}  // namespace llmcalc::api
