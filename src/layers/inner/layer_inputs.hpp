// Embeddings that each layer has for itself beside the hidden state (Gemma 3n, Gemma 4).
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// What of it a gate on the hidden state lets through, projected and normed.
Value layer_input(BlockBuilder& b, const Value& x);

/// The same added to `x`, which is itself where layers have none.
Value with_layer_input(BlockBuilder& b, const Value& x);

/// Those of all layers are made at once, of the tokens and of their embeddings `x`, and one tensor holds them until the
/// backward pass of the first layer.
void make_layer_inputs(BlockBuilder& b, const Value& x);

}  // namespace llmcalc::layers
