// What would make a run fit, or how much room it leaves: every line verified by an estimate of the changed question.
#pragma once

#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/spec/question.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::search {

/// A term of the vocabulary and the value that a change gives it, as one says it.
struct ChangedTerm {
  std::string term;   ///< "recompute"
  std::string value;  ///< "full"

  friend bool operator==(const ChangedTerm&, const ChangedTerm&) = default;
};

/// A change with which the run fits.
struct Advice {
  std::vector<ChangedTerm> terms;
  std::string change;  ///< what it is: "recompute every layer in the backward pass"
  std::string cost;    ///< what it costs; lists are in ascending order of it
  quantity::Bytes needed;
  trust::VerdictKind verdict = trust::VerdictKind::no_accelerator;
  spec::Question question;           ///< what those terms ask, beside what was asked
  std::optional<double> speed = {};  ///< tokens a second of the whole run over those before, where both are known
};

/// The same run on another accelerator.
struct CardVerdict {
  std::string gpu;
  trust::VerdictKind verdict = trust::VerdictKind::no_accelerator;
};

/// The largest with which the run still fits, one of them changed at a time.
struct Headroom {
  std::int64_t micro_batch = 0;
  std::int64_t seq = 0;
};

/// Accelerators to consider instead of the present one, in the order in which to try them. Called only when needed,
/// because answering takes a look at the whole catalogue.
using LargerAccelerators = std::function<std::vector<spec::Accelerator>()>;

/// A run as a person asks for it.
struct Restated {
  std::vector<ChangedTerm> terms;  ///< all that has to be said anew
  spec::Question question;         ///< what that is completed to
};

/// How a changed run is asked for: what was said before, with the changed terms in its place, is completed again, so
/// that every default which follows a change does so here as well. Empty where that is refused.
using Restate =
    std::function<std::optional<Restated>(const spec::Question& changed, const std::vector<ChangedTerm>& terms)>;

/// Changes where a run does not fit or is tight, headroom where it fits. Each change is the smallest set, of at most
/// four, whose dearest part is one of these, in this order: kernels that change nothing, recompute, smaller
/// micro-batches, shorter sequences, sharding, 8-bit states, tensor and pipeline parallelism, LoRA, QLoRA, more
/// accelerators, larger ones.
struct Advised {
  std::vector<Advice> changes;
  std::optional<Headroom> headroom;
  std::vector<CardVerdict> cards = {};  ///< what the larger accelerators make of the run as it was asked
};

/// \param verdict  on this question
Advised advise(const spec::Question& question, const LargerAccelerators& larger, const Restate& restate,
               const answer::Verdict& verdict);

}  // namespace llmcalc::search
