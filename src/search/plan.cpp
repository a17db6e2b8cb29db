#include "search/plan.hpp"

#include "search/inner/findings.hpp"
#include "search/inner/unit_search.hpp"

namespace llmcalc::search {

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
