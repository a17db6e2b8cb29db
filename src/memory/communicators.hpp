// The buffers through which NCCL exchanges with other ranks: outside the allocator, seen by nvidia-smi alone.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::memory {

/// Device memory of one channel to one peer: what arrives lies in the buffers of three protocols, 512 KiB (LL), 4.7 MiB
/// (LL128) and 4 MiB (Simple, NCCL_BUFFSIZE), what leaves needs flags only, both in pages of 2 MiB (nccl
/// src/init.cc, computeBuffSizes; issue 1685 logs allocations of 10 and of 2 MiB).
inline constexpr quantity::Bytes channel_buffers = quantity::mib(10 + 2);

/// Channels that this rank's groups open to peers, of the groups that communicate in a step.
std::int64_t open_channels(const spec::Question& question);

/// Bytes that those take, or that the person measured instead.
quantity::Bytes communicator_buffers(const spec::Question& question);

/// Memory that an engine which generates on the trainer's accelerator sets aside, weights and caches in it (vllm
/// config/cache.py, gpu_memory_utilization; trl trainer/grpo_config.py, vllm_gpu_memory_utilization).
quantity::Bytes colocated_engine(const spec::Question& question);

/// Both: what the device holds beside what the trainer's allocator does, without its context.
quantity::Bytes beside_trainer(const spec::Question& question);

}  // namespace llmcalc::memory
