// What PyTorch's allocator has reserved once a run is under way: its steps, walked tensor by tensor through the
// allocator.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "program/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::memory {

/// The most that tensors take and that the allocator reserves for them.
struct CacheUse {
  quantity::Bytes allocated;  ///< torch.cuda.max_memory_allocated
  quantity::Bytes reserved;   ///< torch.cuda.max_memory_reserved
};

/// Two steps, of which the first makes the optimizer's states; the third is as the second, where micro-batches are
/// equal; and else as many as batch_lengths() has. Nothing for runs whose order of tensors is not described here:
/// weights that come for their layer and go, stages of a pipeline, layers that share a checkpoint, and more layers or
/// tensors than are walked at once. \param room  bytes of the accelerator that the allocator can have
std::optional<CacheUse> use_of_cache(const program::Program& program, const spec::Question& question,
                                     const frameworks::Profile& profile, quantity::Bytes room);

/// Whether samples are said to be shorter than their sequence, and none are packed into it.
bool has_lengths(const spec::Question& question);

/// Tokens of one micro-batch after the other: `equal` full ones, or where samples are said to be shorter, lengths as
/// they are spread with that mean, of which the last is the longest.
std::vector<std::int64_t> batch_lengths(const spec::Question& question, std::size_t equal);

/// As if all micro-batches had that length.
spec::Question of_length(const spec::Question& question, std::int64_t length);

}  // namespace llmcalc::memory
