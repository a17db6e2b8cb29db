#include "memory/communicators.hpp"

#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::product;

namespace {

/// NCCL drives a link with two channels: its logs show 24 on an A100 (12 NVLinks of 25 GB/s) and 16 on an H800 (8; nccl
/// issue 892). An H100 has 24 and the multicast buffers of NVLS, together as much as 32 would take: 384 MiB, where
/// AIConfigurator observed 392 on 4 and 8 of them (systems/*.yaml, nccl_mem). To one peer no log has more than 32. Over
/// PCIe there are 2.
std::int64_t channels_of(const std::optional<spec::Accelerator>& gpu) {
  constexpr std::int64_t most = 32;
  constexpr std::int64_t fewest = 2;
  constexpr double bytes_per_second = 25e9 / 2;  // of one channel
  if (!gpu) return most;
  if (!gpu->link) return fewest;
  const double channels = quantity::in_bytes_per_second(*gpu->link) / bytes_per_second;
  return std::clamp(static_cast<std::int64_t>(channels), fewest, most);
}

/// Ranks of a group that sit in one node, if they are numbered `stride` apart.
std::int64_t in_node(const spec::Layout& layout, std::int64_t ranks, std::int64_t stride) {
  return std::min(ranks, std::max<std::int64_t>(1, layout.gpus / layout.nodes / stride));
}

/// A ring has one peer on either side, of which one sends and the other receives: one channel of buffers.
std::int64_t ring(std::int64_t ranks) { return ranks > 1 ? 1 : 0; }

/// Every rank of an all-to-all is a peer of every other one of its node (nccl issue 1685: from 1.06 to 4.34 GB with the
/// first all-to-all of 8 H100); those of other nodes share one buffer (nccl issue 1450).
std::int64_t all_to_all(const spec::Layout& layout, std::int64_t ranks, std::int64_t stride) {
  return in_node(layout, ranks, stride) - 1;
}

/// Stages send to the next and to the one before.
std::int64_t pipeline(const spec::Layout& layout) {
  constexpr std::int64_t neighbours = 2;
  return std::min(neighbours, all_to_all(layout, layout.pp, product(layout.tp, layout.cp, layout.dp)));
}

/// Gradients are reduced over the ranks that hold the same weights; sharded groups of some of them and the others, each
/// in a group of its own (HSDP). Experts have fewer such ranks (Megatron-LM core/parallel_state.py).
std::int64_t data_rings(const spec::Layout& layout) {
  const std::int64_t ranks = product(layout.dp, layout.cp);
  const std::int64_t sharded = layout.sharding_group > 0 ? layout.sharding_group : ranks;
  const std::int64_t expert_ranks = product(layout.ep, layout.etp);
  const std::int64_t of_experts = expert_ranks > 1 ? ring(product(ranks, layout.tp) / expert_ranks) : 0;
  return ring(sharded) + ring(ranks / sharded) + of_experts;
}

}  // namespace

/// Beside the groups of each way to be parallel there is one of all ranks, for the norm of the gradients and the like;
/// where a run is parallel in one way only, it is the same group.
std::int64_t open_channels(const spec::Question& question) {
  const auto& layout = question.layout;
  if (!spec::can(question.gpu, spec::Ability::nccl) || layout.gpus == 1) return 0;
  const bool spreads_heads = layout.cp_exchange == spec::ContextExchange::all_to_all;
  std::int64_t peers = ring(layout.tp) + ring(layout.etp) + data_rings(layout) + pipeline(layout);
  peers += spreads_heads ? all_to_all(layout, layout.cp, layout.tp) : ring(layout.cp);
  peers += all_to_all(layout, layout.ep, layout.etp);
  const std::int64_t ways = ring(layout.tp) + ring(layout.pp) + ring(product(layout.dp, layout.cp));
  if (ways > 1) peers += ring(layout.gpus);
  return product(peers, channels_of(question.gpu));
}

quantity::Bytes communicator_buffers(const spec::Question& question) {
  return question.runtime.nccl.value_or(open_channels(question) * channel_buffers);
}

quantity::Bytes colocated_engine(const spec::Question& question) {
  const double share = question.training.colocate_fraction;
  if (share == 0.0 || !question.gpu) return quantity::bytes(0);
  const auto capacity = static_cast<double>(quantity::in_bytes(question.gpu->memory_usable));
  return quantity::bytes(static_cast<std::int64_t>(share * capacity));
}

quantity::Bytes beside_trainer(const spec::Question& question) {
  return communicator_buffers(question) + colocated_engine(question);
}

}  // namespace llmcalc::memory
