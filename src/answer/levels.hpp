// The memory of a run at the levels at which people look at it, from one walk.
#pragma once

#include "frameworks/profile.hpp"
#include "memory/step_walk.hpp"

#include <cstdint>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::answer {

/// The framework's profile with the constants that the person replaced.
frameworks::Profile profile_of(const spec::Question& question);

/// The walk of the stage that the question is about.
/// \throws quantity::BadInput when the pipeline has no such stage
memory::StepMemory walk_stage(const memory::StepWalk& step, const spec::Question& question);

/// Host memory of the ranks of one machine together: what is offloaded and paged, and checkpoints.
quantity::Bytes host_need(const memory::StepWalk& step, const spec::Question& question);

struct Levels {
  quantity::Bytes allocated;  ///< torch.cuda.max_memory_allocated
  quantity::Bytes reserved;   ///< torch.cuda.max_memory_reserved
  quantity::Bytes device;     ///< nvidia-smi
  quantity::Bytes needed;     ///< what must fit: the same without the blocks that the allocator gives back
};

/// The last of these from the first. Before the allocator fails it gives back what it only caches (pytorch
/// c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks).
/// \param beside  what the device holds beside the trainer's allocator and its context
quantity::Bytes needed_level(const frameworks::Profile& profile, quantity::Bytes allocated, quantity::Bytes beside);

/// \param parameters  of the whole model; read by the rule of thumb only
quantity::Bytes needed_level(const spec::Question& question, const frameworks::Profile& profile,
                             const memory::StepMemory& memory, std::int64_t parameters);
Levels levels(const spec::Question& question, const frameworks::Profile& profile, const program::Program& program,
              const memory::StepMemory& memory, std::int64_t parameters);

}  // namespace llmcalc::answer
