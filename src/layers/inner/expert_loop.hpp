// Experts that run one after the other, as modules of their own.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// True if experts run one after another: as modules of a framework, or as a family's class writes it.
bool loops_over_experts(const Context& c);

/// What is made between `first` and the end of a loop over so many experts.
struct ExpertLoop {
  TensorId first = no_tensor;
  std::int64_t experts = 1;
};

/// Each expert's results are weighted and added to the tokens that they belong to (transformers modeling_mixtral.py,
/// MixtralSparseMoeBlock.forward; litgpt/model.py, LLaMAMoE.forward). The way back writes each expert's rows into a
/// tensor of all tokens (pytorch tools/autograd/derivatives.yaml, index).
/// \param x         what the experts' rows were taken from
/// \param returned  what all experts made
Value added_up(BlockBuilder& b, const Value& x, const Value& returned, const ExpertLoop& loop);

}  // namespace llmcalc::layers
