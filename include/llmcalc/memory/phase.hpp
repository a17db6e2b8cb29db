// The moments of a training step at which memory can peak, and what memory is held for.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <string_view>

namespace llmcalc::memory {

enum class Phase { forward, loss, backward, optimizer, evaluation, checkpoint };

enum class Holding {
  weights,
  master_weights,
  gradients,
  optimizer_states,
  adapters,
  reference_model,
  reward_model,
  value_model,
  activations,
  logits,
  temporaries,
  workspace,
  communicators,
  engine,
  context,
  checkpoint,
  offloaded,
  allocator,
  calibration
};

std::string_view name_of(Phase phase);  ///< "forward", "loss", "backward", "optimizer step", "evaluation", "checkpoint"
std::string_view name_of(Holding holding);  ///< "weights", "master weights", "logits and loss", ...
std::string_view id_of(Holding holding);    ///< for machines: "weights", "master_weights", "logits", ...

/// The highest moment of one pipeline stage.
struct StagePeak {
  std::int64_t stage = 0;
  quantity::Bytes allocated;
};

}  // namespace llmcalc::memory
