// What Megatron-LM's arguments mean together.
#pragma once

#include "dialects/core/letter.hpp"

#include <span>

namespace llmcalc::dialects {

std::span<const FormatRow> megatron_rows();
std::span<const FormatRow> megatron_quiet_rows();
std::span<const FormatRow> megatron_yaml_rows();
std::span<const FormatRow> megatron_relative_rows();  ///< of what is built on it

/// The keys of --yaml-cfg as those of the command line; nothing where they are those already.
void rename_megatron_yaml(Settings& settings);

/// What those have beyond it: checkpointing, DeepSpeed's engine, shared experts.
void take_megatron_relatives(Sheet& sheet);

/// MLP, biases, tied tables, grouped heads, experts and vocabulary.
void take_megatron_model(Sheet& sheet);
void write_megatron_model(Letter& letter);

/// Precision, recompute, virtual stages, sharding and the loss.
void take_megatron_run(Sheet& sheet);
void write_megatron_run(Letter& letter);

}  // namespace llmcalc::dialects
