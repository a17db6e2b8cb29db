// What an optimizer keeps for each tensor between steps, and what it needs beside that while it updates one.
#pragma once

#include "llmcalc/spec/training.hpp"
#include "program/program.hpp"

namespace llmcalc::program {

/// A matrix of a layer: neither embedding table nor output head. Muon, GaLore and APOLLO leave all else to AdamW.
bool is_hidden_matrix(const layers::Weight& weight);

/// States of one tensor, to the byte; the source of each formula stands with it in optimizer_states.cpp.
quantity::Bytes optimizer_bytes(const layers::Weight& weight, const spec::Training& training);

/// Scratch memory while this tensor is updated, for optimizers that take one tensor after the other. Those that take
/// all tensors at once are described by Profile::optimizer_temporaries.
quantity::Bytes update_scratch(const layers::Weight& weight, const spec::Training& training);

/// True if the states of this tensor are in CUDA managed memory, which the driver moves to the host when the
/// accelerator fills up: bitsandbytes pages states of at least 100,000 elements (optim/optimizer.py, get_state_buffer).
bool is_paged(const layers::Weight& weight, spec::Optimizer optimizer);

}  // namespace llmcalc::program
