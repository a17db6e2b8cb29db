// Finds what would make a run fit, or how much room it leaves.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/search/advised.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"
#include "spec/proposed_accelerator.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace llmcalc::search {

/// Accelerators to consider instead of the present one, in the order in which to try them. Called only when needed,
/// because answering takes a look at the whole catalogue.
using LargerAccelerators = std::function<std::vector<spec::ProposedAccelerator>()>;

/// Accelerators whose memories are nearer than this, as a ratio, hold about as much: one of them is offered.
constexpr double alike_memory = 1.02;

/// A run as a person asks for it.
struct Restated {
  spec::Question question;
  std::function<std::vector<spec::Word>()>
      terms;  ///< all that has to be said anew for it; outlived by what restated it
};

/// How a changed run is asked for: what was said before, with the changed terms in its place, is completed again, so
/// that every default which follows a change does so here as well. Empty where that is refused.
using Restate =
    std::function<std::optional<Restated>(const spec::Question& changed, const std::vector<spec::Word>& terms)>;

/// How much advice somebody reads: a list of runs has room for the first change of each.
enum class AdviceWanted { all, first };

/// \param estimate  of this question
/// \param wanted    of first, `changes` begins as that of all does, and nothing else is looked for
Advised advise(const spec::Question& question, const LargerAccelerators& larger, const Restate& restate,
               const answer::Estimate& estimate, AdviceWanted wanted = AdviceWanted::all);

/// Need of a run, and the least of it on any accelerator: what its weights and states alone need whatever the passes
/// do, and what passes keep whatever rests beside it.
struct Probed : trust::Need {
  quantity::Bytes at_rest, kept;
};

/// The shortest way from a question to its verdict: one walk, no ledger, no words.
/// Keeps the storage of the program between questions, because a search asks hundreds.
class Probe {
 public:
  /// Empty where nothing can be said of them, as beyond what can be counted: the question is not
  /// the one that was asked, so no mistake in it may end the answer.
  std::optional<Probed> need(const spec::Question& question);

 private:
  program::Program program_;
};

}  // namespace llmcalc::search
