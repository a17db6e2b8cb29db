// Losses that take the place of the head's product, so that all logits never exist at once.
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// Head and loss in one operation: a chunk of logits at a time; both gradients are made in the forward pass and kept.
void fused_linear_loss(BlockBuilder& b, const Value& x, const Matrix& head);

/// Cut cross-entropy: logits exist in the kernel's registers alone and are made again in its backward pass. Kept are
/// each position's log-sum-exp and the logit of its label in fp32; both gradients are made backward (Wijmans et al.
/// 2024, arXiv:2411.09009 section 4; apple/ml-cross-entropy cut_cross_entropy/cce.py).
void cut_loss(BlockBuilder& b, const Value& x, const Matrix& head);

}  // namespace llmcalc::layers
