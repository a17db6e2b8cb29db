// What stands around the layers of a tower: the matrix that makes its positions, and what leads to the text model.
#pragma once

#include "layers/block.hpp"
#include "layers/context.hpp"
#include "llmcalc/spec/shape.hpp"

namespace llmcalc::layers {

void tower_embedding_block(const Context& context, const spec::Tower& tower, Block& block);

/// \param needs_gradient  something of the tower is trained
void projector_block(const Context& context, const spec::Tower& tower, bool needs_gradient, Block& block);

}  // namespace llmcalc::layers
