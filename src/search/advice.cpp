#include "llmcalc/search/advice.hpp"

#include "llmcalc/frameworks/layout_rules.hpp"
#include "search/changes.hpp"
#include "search/headroom.hpp"
#include "search/probe.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace llmcalc::search {

namespace {

/// Looks for changes with which a question fits; every one is verified by a walk of the changed question.
class Adviser {
 public:
  Adviser(const spec::Question& question, std::span<const spec::Accelerator> larger, Probe& probe)
      : question_(question), larger_(larger), probe_(probe) {}

  std::vector<Advice> advice();

 private:
  std::vector<Advice> singles(bool in_place);
  std::vector<Advice> pairs(bool in_place);
  std::optional<Changed> apply(const Changed& run, const Change& change, std::size_t step) const;
  std::optional<Advice> verify(Changed run);
  std::optional<Advice> smallest(const Changed& run, const Change& change);
  std::optional<Advice> pair(const Change& first, const Change& second);
  Changed strongest(const Change& change) const;

  const spec::Question& question_;
  std::span<const spec::Accelerator> larger_;
  Probe& probe_;
};

/// No change has more steps than this: micro-batches have fewer divisors, and accelerators are fewer.
constexpr std::size_t most_steps = 64;

/// A change that cannot be made, as one to numbers too large to count, is none.
std::optional<Changed> Adviser::apply(const Changed& run, const Change& change, std::size_t step) const try {
  Changed changed = run;
  if (!change.apply(changed, larger_, step)) return std::nullopt;
  return changed;
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<Advice> Adviser::verify(Changed run) {
  const auto& question = run.question;
  if (frameworks::broken_rule({question.model.shape, question.training, question.layout}) != nullptr)
    return std::nullopt;
  const auto needed = probe_.needed(run.question);
  if (!needed || trust::judge(run.question, *needed) != trust::VerdictKind::fits) return std::nullopt;
  return Advice{std::move(run.flag),      std::move(run.change),  std::move(run.cost), *needed,
                trust::VerdictKind::fits, std::move(run.question)};
}

/// The smallest step of a change that makes the run fit. Steps that do not apply are passed over.
std::optional<Advice> Adviser::smallest(const Changed& run, const Change& change) {
  for (std::size_t step = 0; step < most_steps; ++step) {
    auto changed = apply(run, change, step);
    if (!changed) continue;
    if (auto advice = verify(std::move(*changed))) return advice;
  }
  return std::nullopt;
}

Changed Adviser::strongest(const Change& change) const {
  Changed last{question_, {}, {}, {}};
  for (std::size_t step = 0; step < most_steps; ++step) {
    if (auto changed = apply({question_, {}, {}, {}}, change, step)) last = std::move(*changed);
  }
  return last;
}

std::vector<Advice> Adviser::singles(bool in_place) {
  std::vector<Advice> found;
  const Changed unchanged{question_, {}, {}, {}};
  for (const Change& change : all_changes()) {
    if (change.in_place != in_place) continue;
    if (auto advice = smallest(unchanged, change)) found.push_back(std::move(*advice));
  }
  return found;
}

/// Whether the strongest form of both fits decides; then the first is taken only as far as it must go.
std::optional<Advice> Adviser::pair(const Change& first, const Change& second) {
  const Changed most = strongest(first);
  if (most.flag.empty() || first.kind == second.kind || !smallest(most, second)) return std::nullopt;
  for (std::size_t step = 0; step < most_steps; ++step) {
    const auto changed = apply({question_, {}, {}, {}}, first, step);
    if (!changed) continue;
    if (auto advice = smallest(*changed, second)) return advice;
  }
  return std::nullopt;
}

std::vector<Advice> Adviser::pairs(bool in_place) {
  constexpr std::size_t enough = 3;
  std::vector<Advice> found;
  const auto changes = all_changes();
  for (std::size_t second = 1; second < changes.size(); ++second) {
    for (std::size_t first = 0; first < second && found.size() < enough; ++first) {
      if (in_place != (changes[first].in_place && changes[second].in_place)) continue;
      if (auto advice = pair(changes[first], changes[second])) found.push_back(std::move(*advice));
    }
  }
  return found;
}

/// First what leaves the training and the machine as they are, alone or in pairs; then what does not.
std::vector<Advice> Adviser::advice() {
  std::vector<Advice> found = singles(true);
  if (found.empty()) found = pairs(true);
  auto others = singles(false);
  if (found.empty() && others.empty()) others = pairs(false);
  std::ranges::move(others, std::back_inserter(found));
  return found;
}

}  // namespace

Advised advise(const spec::Question& question, const LargerAccelerators& larger, const answer::Verdict& verdict) {
  const auto kind = verdict.kind;
  const bool walked = question.training.activations == spec::ActivationModel::program;
  Probe probe;
  Advised advised;
  if (kind == trust::VerdictKind::fits && walked) advised.headroom = headroom(question, verdict.capacity, probe);
  if (kind != trust::VerdictKind::does_not_fit && kind != trust::VerdictKind::tight) return advised;
  const auto accelerators = larger ? larger() : std::vector<spec::Accelerator>{};
  advised.changes = Adviser(question, accelerators, probe).advice();
  return advised;
}

}  // namespace llmcalc::search
