// Takes runs one by one and keeps those that matter.
#pragma once

#include "search/plan.hpp"

namespace llmcalc::search {

class Keeper {
 public:
  explicit Keeper(const PlanSpace& space) : space_(space) {}

  /// A run within all limits.
  void take(const PlannedRun& run);

  /// Whether nothing of which these are the least figures is among the best, the best of its base or on the front.
  bool is_beaten(const PlannedRun& least);
  void count(std::int64_t looked_at, std::int64_t fitting) {
    findings_.looked_at += looked_at;
    findings_.fitting += fitting;
  }

  /// A run that could not be answered.
  void miss(std::string_view why);

  std::int64_t fitting() const { return findings_.fitting; }
  Findings in_order() const;

 private:
  void take_best(const PlannedRun& run);
  void take_each(const PlannedRun& run);
  void take_front(const PlannedRun& run);
  bool surely_better(const PlannedRun& kept, const PlannedRun& least) const;
  bool is_kept_out(const PlannedRun& run, const PlannedRun& by) const;

  const PlanSpace& space_;
  Findings findings_;
};

}  // namespace llmcalc::search
