// What would make a run fit, or how much room it leaves: every line verified by an estimate of the changed question.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/word.hpp"
#include "llmcalc/trust/verdict_kind.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::search {

/// A change with which the run fits.
struct Advice {
  std::vector<spec::Word> terms;  ///< what to say: "recompute", "full"
  std::string change;             ///< what it is: "recompute every layer in the backward pass"
  std::string cost;               ///< what it costs; lists are in ascending order of it
  quantity::Bytes needed;
  trust::VerdictKind verdict = trust::VerdictKind::no_accelerator;
  trust::Doubt doubt = trust::Doubt::none;  ///< where it is tight
  std::optional<double> speed = {};  ///< tokens a second of the whole run over those before, where both are known
};

/// Verdict on the same run on another accelerator.
struct CardVerdict {
  std::string gpu;
  trust::VerdictKind verdict = trust::VerdictKind::no_accelerator;
};

/// The largest with which the run still fits, or stays tight if it is, one of them changed at a time.
struct Headroom {
  std::int64_t micro_batch = 0;
  std::int64_t seq = 0;
};

/// Changes where a run does not fit or is tight, headroom where it fits or is tight. Each change is the smallest set,
/// of at most four, whose dearest part is one of these, in this order: kernels that change nothing, recompute, smaller
/// micro-batches, shorter sequences, sharding, offload, 8-bit states, tensor, pipeline and expert parallelism, LoRA,
/// QLoRA, more accelerators, larger ones.
struct Advised {
  std::vector<Advice> changes;
  std::optional<Headroom> headroom;
  std::vector<CardVerdict> cards = {};  ///< what the larger accelerators make of the run as it was asked
};

}  // namespace llmcalc::search
