// What would make a run fit, or how much room it leaves: every line verified by an estimate of the changed question.
#pragma once

#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/spec/question.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::answer {

struct Estimate;

/// A change with which the run fits.
struct Advice {
  std::string flag;    ///< as one types it: "--recompute full"
  std::string change;  ///< what it is: "recompute every layer in the backward pass"
  std::string cost;    ///< what it costs; lists are in ascending order of it
  quantity::Bytes needed;
  VerdictKind verdict = VerdictKind::no_accelerator;
  spec::Question question;  ///< after the change
};

/// The largest with which the run still fits, one of them changed at a time.
struct Room {
  std::int64_t micro_batch = 0;
  std::int64_t seq = 0;
};

/// Accelerators to consider instead of the present one, in the order in which to try them. Called only when needed,
/// because answering takes a look at the whole catalogue.
using LargerAccelerators = std::function<std::vector<spec::Accelerator>()>;

/// Adds to an estimate of this question the advice or the room, whichever its verdict asks for.
void advise(const spec::Question& question, const LargerAccelerators& larger, Estimate& estimate);

}  // namespace llmcalc::answer
