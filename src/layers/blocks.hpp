// The blocks of a program: embedding, one per kind of layer, head with loss.
#pragma once

#include "layers/block.hpp"
#include "layers/context.hpp"
#include "llmcalc/spec/shape.hpp"

namespace llmcalc::layers {

void embedding_block(const Context& context, Block& block);
void layer_block(const Context& context, const spec::LayerKind& kind, bool input_needs_gradient, Block& block);
void head_block(const Context& context, bool input_needs_gradient, Block& block);

// What stands around the layers that predict a token further ahead than the next.

void further_input_block(const Context& context, Block& block);
void further_head_block(const Context& context, Block& block);

/// The head of a reward or value model: one number a position, and its loss where the model is trained.
void score_block(const Context& context, Block& block);

/// True if PyTorch has no fused kernel for the attention of such a layer, which keeps its scores although nobody asked.
bool lacks_kernel(const Context& context, const spec::LayerKind& kind);

/// Block between the stacks of an encoder-decoder: the encoder's final norm and the decoder's token embedding.
void bridge_block(const Context& context, Block& block);

// What stands around the layers of a tower: the matrix that makes its positions, and what leads to the text model.

void tower_embedding_block(const Context& context, const spec::Tower& tower, Block& block);

/// \param needs_gradient  something of the tower is trained
void projector_block(const Context& context, const spec::Tower& tower, bool needs_gradient, Block& block);

}  // namespace llmcalc::layers
