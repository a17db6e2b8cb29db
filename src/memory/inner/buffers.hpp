// What a rank holds that is neither a state nor an activation: workspaces, scratch gradients, communication buffers.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"
#include "program/sharding.hpp"

namespace llmcalc::memory {

/// Workspaces of matrix products, alive all the time, inside what the allocator counts.
quantity::Bytes workspaces(const program::Program& program, const frameworks::Profile& profile);

/// Megatron-LM's own attention takes the first factor of its sum from a buffer of one layer's scores, which stays
/// allocated (core/transformer/dot_product_attention.py, get_global_memory_buffer).
quantity::Bytes score_buffer(const spec::Question& question, const frameworks::Profile& profile);

/// torch DDP's buckets.
/// \param gradients  of all weights of the stage
quantity::Bytes bucket_copy(const frameworks::Profile& profile, const program::StateSharding& sharding,
                            quantity::Bytes gradients);

/// Tensors that a stage received and sent, once a virtual stage. Between steps both stay referenced (measured:
/// Megatron-LM functional tests hold 2*T*h*2 B more under pp 2 and 4, three times that with three virtual stages).
/// Within a step what was received is an activation, and of what was sent only the gradients are still there: outputs
/// are given up once they are on their way (core/pipeline_parallel/schedules.py, deallocate_output_tensor). The first
/// stage sends none.
struct StageTensors {
  quantity::Bytes in_step;
  quantity::Bytes between_steps;
};
StageTensors stage_tensors(const spec::Question& question, const frameworks::Profile& profile, std::int64_t stage);

/// The 16-bit gradient of a block whose weights are one flat parameter: as long as all of them, the frozen ones
/// included, if any is trained.
quantity::Bytes flat_gradient(const layers::Block& block);

/// The gradients of a block whose weights each have their own, in the type in which they accumulate.
quantity::Bytes accumulated_gradients(const layers::Block& block, const spec::Training& training);

/// The weights of a block made whole from their shards, in the type in which they travel: 16 bit where products are,
/// their own where they rest quantized.
quantity::Bytes gathered_weights(const layers::Block& block, const spec::Training& training);

}  // namespace llmcalc::memory
