#include "llmcalc/search/advice.hpp"

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/search/probe.hpp"
#include "search/changes.hpp"
#include "search/combination.hpp"
#include "search/headroom.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::search {

namespace {

using trust::VerdictKind;

/// Tokens a second of all accelerators together; 0 where nothing is timed.
double speed_of(const spec::Question& question) {
  const auto estimate = answer::estimate(question);
  return estimate.timed ? estimate.compute.tokens_per_gpu * static_cast<double>(question.layout.gpus) : 0.0;
}

std::vector<Advice> changes_for(const spec::Question& question, Combinations combinations) {
  const double speed = speed_of(question);
  std::vector<Advice> found;
  for (std::size_t last = 0; last < all_changes().size(); ++last) {
    for (auto& solution : combinations.with_last(last)) {
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
