#include "search/advice.hpp"

#include "answer/figures.hpp"
#include "answer/levels.hpp"
#include "frameworks/layout_rules.hpp"
#include "program/build.hpp"
#include "program/count.hpp"
#include "quantity/lists.hpp"
#include "search/inner/changes.hpp"
#include "search/inner/combination.hpp"
#include "spec/node.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

namespace llmcalc::search {

using trust::VerdictKind;

namespace {

/// The least that states need: in the update all of them are there, and without one the weights.
quantity::Bytes at_rest(const memory::StepMemory& memory) {
  const auto in_update = memory.steady[static_cast<std::size_t>(memory::Phase::optimizer)].alive.states();
  return std::max(in_update, memory.persistent.weights + memory.persistent.adapters);
}

quantity::Bytes kept_by_passes(const memory::StepMemory& memory) {
  quantity::Bytes most;
  for (const auto& phase : memory.steady) most = std::max(most, phase.alive.activations + phase.alive.logits);
  return most;
}

}  // namespace

std::optional<Probed> Probe::need(const spec::Question& question) try {
  const frameworks::Profile profile = answer::profile_of(question);
  program::build_program(question, profile, program_);
  const memory::StepWalk step(program_, question, profile);
  const bool by_rule = question.training.activations == spec::ActivationModel::rule_of_thumb;
  const std::int64_t parameters = by_rule ? program::count_parameters(program_).total : 0;
  const auto memory = answer::walk_stage(step, question);
  const auto needed = answer::needed_level(question, profile, memory, parameters);
  Probed probed{{needed, answer::host_need(step, question)}, {}, {}};
  if (question.training.activations != spec::ActivationModel::program) return probed;  // textbook totals have no parts
  const auto without_driver = [&](quantity::Bytes allocated) {
    return answer::needed_level(profile, allocated, quantity::Bytes{} - profile.measured.context);
  };
  probed.at_rest = without_driver(at_rest(memory));
  probed.kept = without_driver(kept_by_passes(memory));
  return probed;
} catch (const std::exception&) {
  return std::nullopt;
}

namespace {

/// Sequences grow in multiples of this, as kernels like them.
constexpr std::int64_t sequence_unit = 256;
constexpr std::int64_t longest_sequence = 10'000'000;
constexpr std::int64_t largest_batch = 1'000'000;

/// A value and by how many bytes the run exceeds the capacity with it.
struct Sample {
  std::int64_t at = 0;
  double excess = 0.0;
};

double bytes_above(quantity::Bytes needed, quantity::Bytes capacity) {
  return static_cast<double>(in_bytes(needed)) - static_cast<double>(in_bytes(capacity));
}

constexpr double unreachable = 1e18;

/// The value at which the line through two samples crosses the capacity.
std::int64_t crossing(const Sample& a, const Sample& b) {
  const double slope = (b.excess - a.excess) / static_cast<double>(b.at - a.at);
  const double at = static_cast<double>(a.at) - a.excess / slope;
  return slope > 0.0 && at < unreachable ? static_cast<std::int64_t>(at) : std::numeric_limits<std::int64_t>::max();
}

/// The largest value up to `most` that fits. Memory is piecewise linear in batch and sequence length, and quadratic at
/// worst, so lines through what is known find the border in about four samples; every third sample halves the interval,
/// which bounds the number of samples whatever the curve.
/// \pre first fits
template <class Excess>
std::int64_t largest_that_fits(Sample first, std::int64_t most, const Excess& excess) {
  constexpr int halve_every = 3;
  Sample good = first;
  Sample other{2 * first.at, 0.0};  // the second point of the line; bad as soon as one is known
  Sample bad{most + 1, std::numeric_limits<double>::infinity()};
  for (int n = 1; bad.at - good.at > 1; ++n) {
    std::int64_t next = n == 1 ? other.at : crossing(good, other);
    if (n % halve_every == 0) next = good.at + (std::min(bad.at, 4 * good.at) - good.at) / 2;
    const Sample sample{std::clamp(next, good.at + 1, bad.at - 1), excess(std::clamp(next, good.at + 1, bad.at - 1))};
    const bool fits = sample.excess <= 0.0;
    other = fits && !std::isfinite(bad.excess) ? good : fits ? bad : sample;
    (fits ? good : bad) = sample;
  }
  return good.at;
}

/// A learned table has no positions beyond its rows.
std::int64_t longest(const spec::Shape& shape) {
  return shape.position == spec::Position::learned ? shape.max_position : longest_sequence;
}

/// Searches over one field of a question and leaves the question as it was.
class HeadroomSearch {
 public:
  HeadroomSearch(spec::Question question, const answer::Verdict& verdict, Probe& probe)
      : changed_(std::move(question)), verdict_(verdict), probe_(probe) {}

  std::int64_t micro_batch() {
    const std::int64_t whole = changed_.training.batch_of_rank;
    return whole > 0 ? even_micro_batch(whole) : micro_batch_up_to(largest_batch);
  }

  std::int64_t seq() {
    auto& seq = changed_.training.seq;
    const std::int64_t now = seq;
    const auto& layout = changed_.layout;
    const std::int64_t unit = quantity::product(sequence_unit, layout.cp, layout.sp ? layout.tp : 1);
    const auto excess_of = [&](std::int64_t units) { return excess_with(seq, quantity::product(units, unit)); };
    const Sample first{std::max<std::int64_t>(1, now / unit), excess_of(std::max<std::int64_t>(1, now / unit))};
    const std::int64_t most = longest(changed_.model.shape) / unit;
    const bool searchable = first.excess <= 0.0 && first.at <= most;
    const std::int64_t largest = searchable ? unit * largest_that_fits(first, most, excess_of) : now;
    seq = now;
    return std::max(now, largest);
  }

 private:
  std::int64_t micro_batch_up_to(std::int64_t most) {
    auto& batch = changed_.training.micro_batch;
    const std::int64_t now = batch;
    const std::int64_t largest = largest_that_fits({now, excess_with(batch, now)}, most,
                                                   [&](std::int64_t value) { return excess_with(batch, value); });
    batch = now;
    return largest;
  }

  /// Largest micro-batch that divides a step whose batch was said. One micro-batch a step, which has no
  /// gradients beside it, needs least, so none above the largest of those fits.
  std::int64_t even_micro_batch(std::int64_t whole) {
    const spec::Training now = changed_.training;
    auto& training = changed_.training;
    training.grad_accum = 1;
    std::int64_t largest = micro_batch_up_to(whole);
    const auto can_be = [&](std::int64_t part) {
      training.grad_accum = whole / part;
      const bool fits = excess_with(training.micro_batch, part) <= 0.0;
      return fits && frameworks::broken_rule({changed_.model.shape, training, changed_.layout}) == nullptr;
    };
    while (largest > now.micro_batch && (whole % largest != 0 || !can_be(largest))) --largest;
    training = now;
    return largest;
  }

  double excess_with(std::int64_t& field, std::int64_t value) {
    field = value;
    const auto need = probe_.need(changed_);
    if (!need) return std::numeric_limits<double>::max();
    if (verdict_.kind == trust::VerdictKind::tight) return likely_excess(*need);
    return std::max(trust::excess(changed_, need->accelerator, verdict_.capacity),
                    trust::host_excess(changed_, need->host));
  }

  /// Without the error bar, which a tight run is already inside of.
  double likely_excess(const trust::Need& need) const {
    const double excess = bytes_above(need.accelerator, verdict_.capacity);
    const bool has_machine = verdict_.host_capacity > quantity::Bytes{};
    return has_machine ? std::max(excess, bytes_above(need.host, verdict_.host_capacity)) : excess;
  }

  spec::Question changed_;
  const answer::Verdict& verdict_;
  Probe& probe_;
};

/// \param verdict  on the question: a run that fits stays sure to, one that is tight stays likely to
/// \pre it fits, or is tight
Headroom headroom(const spec::Question& question, const answer::Verdict& verdict, Probe& probe) {
  HeadroomSearch search(question, verdict, probe);
  return {search.micro_batch(), search.seq()};
}

bool any_fits(const std::vector<Solution>& solutions) {
  return std::ranges::any_of(solutions, [](const Advice& advice) { return advice.verdict == VerdictKind::fits; });
}

/// The solutions whose dearest change is one of [first, end), and those of every form of them where nothing else fits.
/// Where the first is all that is wanted, the search ends with the first that fits.
std::vector<Solution> solutions(Combinations& combinations, std::size_t first, std::size_t end, AdviceWanted wanted) {
  std::vector<Solution> found;
  for (const Forms forms : {Forms::strongest, Forms::every}) {
    std::vector<Solution> told;
    for (std::size_t last = first; last < end; ++last) {
      std::ranges::move(combinations.with_last(last, forms), std::back_inserter(told));
      if (wanted == AdviceWanted::first && any_fits(told)) return told;
    }
    if (forms == Forms::strongest || any_fits(told)) found = std::move(told);
    if (any_fits(found)) break;
  }
  return found;
}

/// Changes with the accelerators at hand first, then with more or larger ones.
/// \param tokens_per_gpu  of the run as it is; 0 where nothing is timed
std::vector<Advice> changes_for(const spec::Question& question, double tokens_per_gpu, Combinations combinations,
                                AdviceWanted wanted) {
  const auto changes = all_changes();
  const auto elsewhere = std::ranges::find(changes, true, &Change::makes_room);
  const auto here = static_cast<std::size_t>(elsewhere - changes.begin());
  const double speed = tokens_per_gpu * static_cast<double>(question.layout.gpus);
  std::vector<Advice> found;
  for (const auto& [first, end] : {std::pair{std::size_t{0}, here}, std::pair{here, changes.size()}}) {
    if (wanted == AdviceWanted::first && !found.empty()) break;
    for (auto& solution : solutions(combinations, first, end, wanted)) {
      const auto& run = solution.run.question;
      const auto gpus = static_cast<double>(run.layout.gpus);
      if (speed > 0.0) solution.speed = answer::tokens_per_gpu(run) * gpus / speed;
      solution.terms = solution.run.terms();
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
  auto by_memory = quantity::mapped(larger, [](const spec::ProposedAccelerator& gpu) { return &gpu; });
  std::ranges::stable_sort(by_memory, {}, [](const auto* gpu) { return gpu->memory_usable; });
  for (const spec::ProposedAccelerator* gpu : by_memory) {
    if (before > quantity::Bytes{} && gpu->memory_usable / before < alike_memory) continue;
    before = gpu->memory_usable;
    changed.gpu = **gpu;
    if (const auto need = probe.need(changed)) cards.push_back({changed.gpu->id, trust::judge(changed, *need)});
  }
  return cards;
}

}  // namespace

Advised advise(const spec::Question& question, const LargerAccelerators& larger, const Restate& restate,
               const answer::Estimate& estimate, AdviceWanted wanted) {
  const auto& verdict = estimate.verdict;
  const auto kind = verdict.kind;
  const bool walked = question.training.activations == spec::ActivationModel::program;
  Probe probe;
  Advised advised;
  const bool has_room = kind == VerdictKind::fits || kind == VerdictKind::tight;
  if (has_room && walked && wanted == AdviceWanted::all) advised.headroom = headroom(question, verdict, probe);
  if (kind != VerdictKind::does_not_fit && kind != VerdictKind::tight) return advised;
  const auto accelerators = larger ? larger() : std::vector<spec::ProposedAccelerator>{};
  const bool takes_tight = kind == VerdictKind::does_not_fit;
  advised.changes = changes_for(question, estimate.compute.tokens_per_gpu,
                                {question, accelerators, restate, takes_tight, probe}, wanted);
  if (wanted == AdviceWanted::all) advised.cards = cards_for(question, accelerators, probe);
  return advised;
}

}  // namespace llmcalc::search
