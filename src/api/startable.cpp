// The choices of a search that a command of the framework can start.
#include "api/inner/planner.hpp"
#include "dialects/launch.hpp"
#include "frameworks/table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace llmcalc::api {

namespace {

/// Whether the framework's own command says an option of the run, or the framework has no command at all.
bool says(const spec::Question& question, std::string_view option) {
  const auto launches = dialects::launches(question);
  const auto is_it = [&](const std::string& each) { return each.starts_with(option); };
  return std::ranges::all_of(launches, [&](const auto& launch) { return std::ranges::none_of(launch.beyond, is_it); });
}

bool says_recompute(spec::Question question, spec::RecomputePolicy policy) {
  question.training.recompute = {};
  question.training.recompute.policy = policy;
  return says(question, "--recompute ");
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

/// Shardings and offloads that a command of the framework says, where nobody chose.
spec::RunChoices startable(const spec::Question& base, spec::RunChoices choices) {
  const auto& space = frameworks::row_of(base.training.framework).space;
  const auto narrow = [](auto& chosen, const auto& all, const auto& is_said) {
    if (!chosen.empty()) return;
    std::ranges::copy_if(all, std::back_inserter(chosen), is_said);
    if (chosen.size() == all.size()) chosen.clear();
  };
  const auto shards = [&](spec::Sharding sharding) {
    spec::Question tried = base;
    tried.layout.sharding = sharding;
    return says(tried, "--sharding ");
  };
  if (base.layout.gpus > 1) narrow(choices.sharding, space.shardings.span(), shards);
  narrow(choices.offload, space.offloads.span(), [&](spec::Offload offload) { return says_offload(base, offload); });
  return choices;
}

/// Choices of each base. Those alike share them: a framework's commands do not follow the accelerator.
std::vector<spec::RunChoices> startable_of(const search::PlanQuestion& question) {
  const auto kind = [](const spec::Question& base) { return std::pair(base.training.framework, base.layout.gpus > 1); };
  std::vector<spec::RunChoices> all;
  for (const spec::Question& base : question.bases) {
    const auto known = std::ranges::find(question.bases, kind(base), kind) - question.bases.begin();
    const auto place = static_cast<std::size_t>(known);
    all.push_back(place < all.size() ? all[place] : startable(base, question.choices));
  }
  return all;
}

}  // namespace

void leave_out_unsaid(search::PlanQuestion& question) {
  question.startable = startable_of(question);
  auto& chosen = question.choices.recompute;
  if (!chosen.empty()) return;
  for (const auto policy :
       {spec::RecomputePolicy::none, spec::RecomputePolicy::selective, spec::RecomputePolicy::full}) {
    const auto says = [&](const spec::Question& base) { return says_recompute(base, policy); };
    if (std::ranges::any_of(question.bases, says)) chosen.emplace_back().policy = policy;
  }
}

}  // namespace llmcalc::api
