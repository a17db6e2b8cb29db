// What a rank holds that is neither a state nor an activation: workspaces, scratch gradients, communication buffers.
#pragma once

#include "llmcalc/program/profile.hpp"
#include "llmcalc/program/program.hpp"
#include "llmcalc/program/sharding.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::memory {

/// Of matrix products, alive all the time, inside what the allocator counts.
quantity::Bytes workspaces(const program::Program& program, const program::Profile& profile);

/// Megatron-LM's own attention takes the first factor of its sum from a buffer of one layer's scores, which stays
/// allocated (core/transformer/dot_product_attention.py, get_global_memory_buffer).
quantity::Bytes score_buffer(const spec::Question& question, const program::Profile& profile);

/// What a stage keeps for its exchange with others: received and sent tensors, buckets.
/// \param gradients  of all weights of the stage
quantity::Bytes exchange_buffers(const spec::Question& question, const program::Profile& profile,
                                 const program::Sharding& sharding, quantity::Bytes gradients);

/// One 16-bit scratch gradient a distinct matrix shape, filled by the fused accumulation kernels instead of the real
/// gradient (TransformerEngine pytorch/module/base.py, get_dummy_wgrad). Runs without that fusion have none, so they
/// count in the backward pass only.
quantity::Bytes dummy_gradients(const program::Program& program);

/// The 16-bit gradient of a block whose weights are one flat parameter: as long as all of them, the frozen ones
/// included, if any is trained.
quantity::Bytes flat_gradient(const program::Block& block);

/// The weights of a block made whole from their shards, in the type in which they travel: 16 bit where products are,
/// their own where they rest quantized.
quantity::Bytes gathered_weights(const program::Block& block, const spec::Training& training);

}  // namespace llmcalc::memory
