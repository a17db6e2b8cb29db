// What writing a checkpoint takes between two steps, on the accelerator and in the memory of the host.
//
// Sample (8B parameters, bf16 weights, fp32 moments, 8 ranks under FSDP):
//   full      16 GB of whole weights on every accelerator, and the unit that is being copied
//   full-cpu  that unit alone; on the first rank's host 16 GB of weights, then 64 GB of moments
//   sharded   a tensor at a time; Megatron-LM copies the rank's whole shard first
//   async     that shard, 10 GB a rank, in host memory while training goes on
#pragma once

#include "program/program.hpp"
#include "program/stage_blocks.hpp"

#include <span>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::memory {

struct CheckpointNeeds {
  quantity::Bytes accelerator;    ///< beside what rests between steps
  quantity::Bytes host_of_each;   ///< of every rank in its machine's memory
  quantity::Bytes host_of_first;  ///< of the first rank alone
};

/// Needs of a rank of a stage with these blocks; nothing where nobody asks (spec::SaveCheckpoint::none).
CheckpointNeeds checkpoint_needs(const program::Program& program, std::span<const program::BlockRun> runs,
                                 const spec::Question& question);

/// The most that any stage needs of the host.
CheckpointNeeds highest_checkpoint_needs(const program::Program& program, const spec::Question& question);

}  // namespace llmcalc::memory
