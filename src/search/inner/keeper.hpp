// The best runs of a search and those that no other beats in memory, time and cost at once, as they are found.
#pragma once

#include "search/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace llmcalc::search {

/// Takes runs one by one and keeps those that matter.
class Keeper {
 public:
  explicit Keeper(const PlanSpace& space) : space_(space), each_(space.question().bases.size()) {}

  /// A run within all limits.
  void take(const PlannedRun& run);

  /// A run within all limits and beyond the error bar.
  void take_sure(const PlannedRun& run);

  /// Whether nothing of which these are the least figures is among the best, the best of its base or on the front.
  bool is_beaten(const PlannedRun& least);
  bool is_behind(const PlannedRun& least) const;  ///< the same but for the front
  /// Whether nothing of which these are the least figures is the best beyond the error bar.
  bool is_surely_beaten(const PlannedRun& least) const {
    return findings_.sure && surely_better(*findings_.sure, least);
  }
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
  template <class Does>
  bool any_corner(quantity::Bytes memory, Does does);

  /// Figures of a run on the front by which it keeps others out, side by side: most branches ask many of them.
  struct Corner {
    quantity::Bytes memory;
    quantity::Seconds total;
    double dollars = 0;
  };

  const PlanSpace& space_;
  Findings findings_;                            ///< but for `each`
  std::vector<std::optional<PlannedRun>> each_;  ///< by base
  std::vector<Corner> corners_;                  ///< of the front, which lies by memory
  std::size_t last_ = 0;                         ///< of these, the one that kept something out last
};

}  // namespace llmcalc::search
