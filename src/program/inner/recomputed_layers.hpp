// Which layers a run makes again in the backward pass, where it does not treat all alike.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

namespace llmcalc::program {

/// Recomputation that the run asks, of whole modules where a family's class checkpoints several layers as one
/// (transformers modeling_longcat_flash.py, LongcatFlashDecoderLayer).
spec::Recompute by_module(const spec::Question& question, const frameworks::Profile& profile);

/// True if some layers keep what they made beside others that are run again.
bool spares_layers(const spec::Recompute& recompute);

/// Puts layers that are spared on their open block, and those that share a checkpoint on blocks of their group.
/// \param kinds       blocks 1 to `kinds` are the layers
/// \param first_open  the same blocks without checkpoint from here on, where some are spared
void choose_recomputed_layers(const spec::Recompute& recompute, std::size_t kinds, std::size_t first_open,
                              Program& program);

}  // namespace llmcalc::program
