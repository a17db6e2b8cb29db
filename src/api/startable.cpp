#include "api/inner/planner.hpp"
#include "dialects/launch.hpp"
#include "frameworks/table.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace llmcalc::api {

namespace {

/// Whether the framework's own command says an option of the run, or the framework has no command at all.
bool says(const spec::Question& question, std::string_view option) {
  const auto launches = dialects::launches(question);
  const auto is_it = [&](const std::string& each) { return each.starts_with(option); };
  return std::ranges::all_of(launches, [&](const auto& launch) { return std::ranges::none_of(launch.beyond, is_it); });
}

bool says_recompute(spec::Question question, const spec::Recompute& way) {
  question.training.recompute = way;
  return says(question, "--recompute");
}

/// Whether it says what leaves the accelerator, however the states are shared.
bool says_offload(spec::Question question, spec::Offload offload) {
  question.training.offload = offload;
  const auto& shardings = frameworks::row_of(question.training.framework).space.shardings.span();
  return std::ranges::any_of(shardings, [&](spec::Sharding sharding) {
    question.layout.sharding = sharding;
    return says(question, "--offload ");
  });
}

/// Those that are said; none where all are.
template <class All, class IsSaid>
auto narrowed(const All& all, const IsSaid& is_said) {
  std::vector<std::ranges::range_value_t<All>> said;
  std::ranges::copy_if(all, std::back_inserter(said), is_said);
  if (said.size() == all.size()) said.clear();
  return said;
}

std::vector<spec::Sharding> startable_shardings(const spec::Question& base) {
  if (base.layout.gpus == 1) return {};
  return narrowed(frameworks::row_of(base.training.framework).space.shardings.span(), [&](spec::Sharding sharding) {
    spec::Question tried = base;
    tried.layout.sharding = sharding;
    return says(tried, "--sharding ");
  });
}

std::vector<spec::Offload> startable_offloads(const spec::Question& base) {
  return narrowed(frameworks::row_of(base.training.framework).space.offloads.span(),
                  [&](spec::Offload offload) { return says_offload(base, offload); });
}

/// Ways to recompute that it says.
std::vector<spec::Recompute> startable_recomputes(const spec::Question& base, std::vector<spec::Recompute> ways) {
  std::erase_if(ways, [&](const spec::Recompute& way) { return !says_recompute(base, way); });
  return ways;
}

}  // namespace

const Startable::Known& Startable::of(const spec::Question& base) {
  const Kind kind{base.training.framework, base.layout.gpus > 1, base.training.method,
                  frameworks::ways_to_recompute(base)};
  const auto found = std::ranges::find(known_, kind, &Known::kind);
  if (found != known_.end()) return *found;
  known_.push_back(
      {kind, startable_shardings(base), startable_offloads(base), startable_recomputes(base, kind.recomputes)});
  return known_.back();
}

void Startable::narrow(search::PlanQuestion& question) {
  for (const spec::Question& base : question.bases) {
    const Known& known = of(base);
    auto& own = question.startable.emplace_back(question.choices);
    if (own.sharding.empty()) own.sharding = known.shardings;
    if (own.offload.empty()) own.offload = known.offloads;
    if (own.recompute.empty()) own.recompute = known.recomputes;
  }
}

}  // namespace llmcalc::api
