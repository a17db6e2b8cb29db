// The output head and the loss: where the widest tensors of a run are, tokens x vocabulary.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// Appends the head's matrix product and the loss in the way the run implements it.
void loss(BlockBuilder& b, const Value& x, const Matrix& head);

}  // namespace llmcalc::layers
