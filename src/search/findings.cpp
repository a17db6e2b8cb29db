// Runs that a search keeps: the best in order, and those that no other beats in memory, time and cost at once.

#include "quantity/lists.hpp"
#include "search/inner/keeper.hpp"
#include "search/inner/unit_search.hpp"
#include "search/plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace llmcalc::search {

namespace {

/// Cost of a run; one without a price is taken to cost more than any.
double dollars(const PlannedRun& run) {
  return run.cost ? quantity::in_dollars(*run.cost) : std::numeric_limits<double>::infinity();
}

/// No worse in any of the three.
bool covers(const PlannedRun& a, const PlannedRun& b) {
  return dollars(a) <= dollars(b) && a.memory <= b.memory && a.total <= b.total;
}

/// Figure that the objective makes small.
double figure(const PlanSpace& space, const PlannedRun& run) {
  switch (space.question().objective) {
    case Objective::step_time: return quantity::in_seconds(run.step);
    case Objective::cost: return quantity::in_dollars(*run.cost);
    case Objective::energy: return quantity::in_kilowatt_hours(*run.energy);
    case Objective::memory: return static_cast<double>(quantity::in_bytes(run.memory));
    case Objective::gpus: return static_cast<double>(space.question().bases[run.choice.base].layout.gpus);
    case Objective::micro_batch: return -static_cast<double>(run.choice.micro_batch);
  }
  return 0.0;
}

bool equals(const PlannedRun& a, const PlannedRun& b) { return covers(a, b) && covers(b, a); }

}  // namespace

/// Whether a run on the front that takes no more memory does it. The one that did last is asked first.
/// \param does  called with a place on the front
template <class Does>
bool Keeper::any_corner(quantity::Bytes memory, Does does) {
  const auto can = [&](std::size_t at) { return at < corners_.size() && corners_[at].memory <= memory; };
  if (can(last_) && does(last_)) return true;
  for (std::size_t i = 0; can(i); ++i) {
    if (!does(i)) continue;
    last_ = i;
    return true;
  }
  return false;
}

bool Keeper::is_kept_out(const PlannedRun& run, const PlannedRun& by) const {
  return covers(by, run) && (!equals(by, run) || space_.is_better(by, run));
}

void Keeper::take(const PlannedRun& run) {
  take_best(run);
  take_each(run);
  take_front(run);
}

void Keeper::take_sure(const PlannedRun& run) {
  auto& sure = findings_.sure;
  if (!sure || space_.is_better(run, *sure)) sure = run;
}

/// Whether a kept run stays before whatever a branch holds of which these are the least figures.
bool Keeper::surely_better(const PlannedRun& kept, const PlannedRun& least) const {
  const double of_kept = figure(space_, kept);
  const double of_least = figure(space_, least);
  return of_kept != of_least ? of_kept < of_least : kept.step < least.step;
}

bool Keeper::is_behind(const PlannedRun& least) const {
  const auto& best = findings_.best;
  if (best.size() < space_.question().best || (!best.empty() && !surely_better(best.back(), least))) return false;
  const auto& own = each_[least.choice.base];
  return own && surely_better(*own, least);
}

bool Keeper::is_beaten(const PlannedRun& least) {
  if (!is_behind(least)) return false;
  const double cost = dollars(least);
  return any_corner(least.memory,
                    [&](std::size_t at) { return corners_[at].total < least.total && corners_[at].dollars <= cost; });
}

void Keeper::take_best(const PlannedRun& run) {
  auto& best = findings_.best;
  const std::size_t most = space_.question().best;
  if (best.size() >= most && (most == 0 || !space_.is_better(run, best.back()))) return;
  if (best.size() >= most) best.pop_back();
  const auto place = std::ranges::upper_bound(
      best, run, [&](const PlannedRun& a, const PlannedRun& b) { return space_.is_better(a, b); });
  best.insert(place, run);
}

void Keeper::take_each(const PlannedRun& run) {
  auto& own = each_[run.choice.base];
  if (!own || space_.is_better(run, *own)) own = run;
}

void Keeper::miss(std::string_view why) {
  ++findings_.unanswered;
  if (findings_.obstacle.empty() || why < findings_.obstacle) findings_.obstacle = why;
}

void Keeper::take_front(const PlannedRun& run) {
  auto& front = findings_.front;
  if (any_corner(run.memory, [&](std::size_t at) { return is_kept_out(run, front[at]); })) return;
  std::erase_if(front, [&](const PlannedRun& other) { return is_kept_out(other, run); });
  front.insert(std::ranges::upper_bound(front, run.memory, {}, &PlannedRun::memory), run);
  corners_ = quantity::mapped(front, [](const PlannedRun& kept) {
    return Corner{kept.memory, kept.total, dollars(kept)};
  });
}

Findings Keeper::in_order() const {
  Findings found = findings_;
  for (const auto& own : each_) {
    if (own) found.each.push_back(*own);
  }
  std::ranges::sort(found.each, [&](const PlannedRun& a, const PlannedRun& b) { return space_.is_better(a, b); });
  std::ranges::sort(found.front, [&](const PlannedRun& a, const PlannedRun& b) {
    return a.total != b.total ? a.total < b.total : space_.is_better(a, b);
  });
  return found;
}

bool PlanSpace::is_better(const PlannedRun& a, const PlannedRun& b) const {
  const double of_a = figure(*this, a);
  const double of_b = figure(*this, b);
  if (of_a != of_b) return of_a < of_b;
  if (a.step != b.step) return a.step < b.step;
  const bool stays_of_a = a.choice.offload == spec::Offload::none;  // of two as fast, the simpler one
  const bool stays_of_b = b.choice.offload == spec::Offload::none;
  if (stays_of_a != stays_of_b) return stays_of_a;
  if (a.memory != b.memory) return a.memory < b.memory;
  return chosen(a.choice) < chosen(b.choice);
}

struct PlanSearch::Parts {
  Keeper keeper;
  UnitSearch units;
};

PlanSearch::PlanSearch(const PlanSpace& space) : parts_(new Parts{Keeper(space), UnitSearch(space)}) {}
PlanSearch::~PlanSearch() = default;
PlanSearch::PlanSearch(PlanSearch&&) noexcept = default;

void PlanSearch::search(const PlanUnit& unit) { parts_->units.search(unit, parts_->keeper); }
Findings PlanSearch::findings() const { return parts_->keeper.in_order(); }
std::int64_t PlanSearch::fitting() const { return parts_->keeper.fitting(); }

Findings plan(const PlanSpace& space) {
  PlanSearch search(space);
  for (const PlanUnit& unit : space.units()) search.search(unit);
  return search.findings();
}

}  // namespace llmcalc::search
