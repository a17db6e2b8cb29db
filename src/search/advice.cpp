#include "search/advice.hpp"

#include "llmcalc/answer/estimate.hpp"
#include "search/inner/changes.hpp"
#include "search/inner/combination.hpp"
#include "search/inner/headroom.hpp"
#include "search/probe.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace llmcalc::search {

namespace {

using trust::VerdictKind;

/// Tokens a second of all accelerators together; 0 where nothing is timed.
double speed_of(const spec::Question& question) {
  const auto estimate = answer::estimate(question);
  return estimate.timed ? estimate.compute.tokens_per_gpu * static_cast<double>(question.layout.gpus) : 0.0;
}

bool any_fits(const std::vector<Solution>& solutions) {
  return std::ranges::any_of(solutions, [](const Advice& advice) { return advice.verdict == VerdictKind::fits; });
}

/// The solutions whose dearest change is one of [first, end), and those of every form of them where nothing else fits.
std::vector<Solution> solutions(Combinations& combinations, std::size_t first, std::size_t end) {
  std::vector<Solution> found;
  for (const Forms forms : {Forms::strongest, Forms::every}) {
    std::vector<Solution> told;
    for (std::size_t last = first; last < end; ++last) {
      std::ranges::move(combinations.with_last(last, forms), std::back_inserter(told));
    }
    if (forms == Forms::strongest || any_fits(told)) found = std::move(told);
    if (any_fits(found)) break;
  }
  return found;
}

/// With the accelerators at hand first, then with more or larger ones.
std::vector<Advice> changes_for(const spec::Question& question, Combinations combinations) {
  const auto changes = all_changes();
  const auto elsewhere = std::ranges::find(changes, true, &Change::makes_room);
  const auto here = static_cast<std::size_t>(elsewhere - changes.begin());
  const double speed = speed_of(question);
  std::vector<Advice> found;
  for (const auto& [first, end] : {std::pair{std::size_t{0}, here}, std::pair{here, changes.size()}}) {
    for (auto& solution : solutions(combinations, first, end)) {
      if (speed > 0.0) solution.speed = speed_of(solution.question) / speed;
      found.push_back(std::move(solution));
    }
  }
  return found;
}

/// One card of each capacity, which says as much as all of them.
std::vector<CardVerdict> cards_for(const spec::Question& question, Larger larger, Probe& probe) {
  std::vector<CardVerdict> cards;
  if (question.pricing.memory) return cards;
  spec::Question changed = question;
  quantity::Bytes before;
  for (const auto& gpu : larger) {
    constexpr double alike = 1.02;
    if (before > quantity::Bytes{} && gpu.memory_usable / before < alike) continue;
    before = gpu.memory_usable;
    changed.gpu = gpu;
    if (const auto need = probe.need(changed)) cards.push_back({gpu.id, trust::judge(changed, *need)});
  }
  return cards;
}

}  // namespace

Advised advise(const spec::Question& question, const LargerAccelerators& larger, const Restate& restate,
               const answer::Verdict& verdict) {
  const auto kind = verdict.kind;
  const bool walked = question.training.activations == spec::ActivationModel::program;
  Probe probe;
  Advised advised;
  const bool has_room = kind == VerdictKind::fits || kind == VerdictKind::tight;
  if (has_room && walked) advised.headroom = headroom(question, verdict, probe);
  if (kind != VerdictKind::does_not_fit && kind != VerdictKind::tight) return advised;
  const auto accelerators = larger ? larger() : std::vector<spec::Accelerator>{};
  const bool takes_tight = kind == VerdictKind::does_not_fit;
  advised.changes = changes_for(question, {question, accelerators, restate, takes_tight, probe});
  advised.cards = cards_for(question, accelerators, probe);
  return advised;
}

}  // namespace llmcalc::search
