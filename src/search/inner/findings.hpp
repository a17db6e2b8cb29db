// Takes runs one by one and keeps those that matter.
#pragma once

#include "search/plan.hpp"

namespace llmcalc::search {

class Keeper {
 public:
  explicit Keeper(const PlanSpace& space, Findings findings = {}) : space_(space), findings_(std::move(findings)) {}

  /// A run within all limits.
  void take(const PlannedRun& run);

  /// Whether a run that is already kept takes the place of any of this base, memory and time: it would change nothing.
  /// Of one base what takes longer costs more, so that the steps say it before money and energy are counted.
  bool is_beaten(std::uint32_t base, quantity::Bytes memory, quantity::Seconds step);
  void take_best(const PlannedRun& run);
  void take_each(const PlannedRun& run);
  void take_front(const PlannedRun& run);
  void count(std::int64_t looked_at, std::int64_t fitting) {
    findings_.looked_at += looked_at;
    findings_.fitting += fitting;
  }

  /// A run that could not be answered.
  void miss(std::string_view why);
  void add_misses(const Findings& other);

  std::int64_t fitting() const { return findings_.fitting; }
  Findings in_order() const;

 private:
  bool is_kept_out(const PlannedRun& run, const PlannedRun& by) const;

  const PlanSpace& space_;
  Findings findings_;
};

}  // namespace llmcalc::search
