// What Megatron-LM's arguments mean together.
#pragma once

#include "dialects/core/letter.hpp"

namespace llmcalc::dialects {

/// MLP, biases, tied tables, grouped heads, experts and vocabulary.
void take_megatron_model(Sheet& sheet);
void write_megatron_model(Letter& letter);

/// Precision, recompute, virtual stages, sharding and the loss.
void take_megatron_run(Sheet& sheet);
void write_megatron_run(Letter& letter);

}  // namespace llmcalc::dialects
