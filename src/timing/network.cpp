#include "timing/network.hpp"

#include "program/sharding.hpp"
#include "quantity/elementary.hpp"
#include "spec/node.hpp"
#include "timing/inner/fabric_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>

namespace llmcalc::timing {

using layers::Collective;
using quantity::Bytes;
using quantity::Seconds;

namespace {

/// From one node to the next and from one rank to the next inside a node, and once for each collective that leaves a
/// node: NCCL's own cost model for its LL128 protocol (src/graph/tuning.cc: hwLat of trees and rings over the network
/// and over NVLink, baseLat of a ring).
constexpr Seconds hop = quantity::seconds(8.5e-6);
constexpr Seconds ring_hop = quantity::seconds(4.0e-6);
constexpr Seconds link_hop = quantity::seconds(1.9e-6);
constexpr Seconds start = quantity::seconds(10e-6);

/// A broadcast passes one rank after the other, of which each waits for a chunk: halfway between what NCCL counts for
/// each rank of its LL128 protocol, 4 us, and of Simple, 14 (the same file, ncclFuncBroadcast: nsteps * lat).
/// InternEvo's 7B waits 9 to 10 us a rank and broadcast on 128 to 1,024 A100 (doc/en/train_performance.md, zero1=-1
/// beside zero1=8).
constexpr Seconds broadcast_hop = quantity::seconds(9.0e-6);

/// An all-to-all between nodes is a message to each rank there: its rate over that of rings. Qwen3 235B on 256 H100,
/// whose experts are spread over four nodes, waits 1.3 times as long for them as rings would (Megatron-Bridge 25.09,
/// docs/performance-summary.md).
constexpr double all_to_all_rate = 0.75;

/// Time of DeepEP and HybridEP between nodes beside the rows on the wire, to count them and to wait for each other:
/// 0.67 ms an exchange of Qwen3 30B on two nodes of H100, whose rows take 0.38 ms (NVIDIA-NeMo/Megatron-Bridge pull
/// request 5094).
constexpr Seconds dispatch_setup = quantity::seconds(0.29e-3);

/// Machines without a known network have 100 Gbit/s Ethernet.
constexpr double assumed_gigabits = 100.0;

constexpr double bits_per_byte = 8.0;

/// Trees of all-reduces go up and down again, rings pass every rank but one, and an all-to-all sends to all at once
/// (tuning.cc: (nsteps - nInterSteps) * intraLat + nInterSteps * interLat of a ring, 2 * log2i(nNodes) * interLat of a
/// tree; its hops inside a node are left out, for 32 KiB over four nodes take no longer than those between them).
Seconds latency(Collective kind, const GroupSpan& span) {
  const std::int64_t nodes = span.nodes();
  switch (kind) {
    case Collective::all_reduce:
      return 2.0 * static_cast<double>(std::bit_width(static_cast<std::uint64_t>(nodes - 1))) * hop;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return static_cast<double>(nodes - 1) * ring_hop + static_cast<double>(span.ranks - nodes) * link_hop;
    case Collective::all_to_all:
    case Collective::ring: break;
  }
  return hop;
}

/// Share of the tensor that one group sends out of a node: every ring edge carries the ring's share, twice for an
/// all-reduce; of an all-to-all each rank sends what is for other nodes.
double leaving(Collective kind, const GroupSpan& span) {
  if (kind == Collective::all_to_all) {
    return static_cast<double>(span.per_node * (span.ranks - span.per_node)) / static_cast<double>(span.ranks);
  }
  const double once = ring_share(static_cast<double>(span.ranks));
  return kind == Collective::all_reduce ? 2.0 * once : once;
}

/// Share of `copies` for random ranks that no other one for the same node stands for: n (1 - (1 - 1/n)^k) / k, the
/// expected number of nodes that k draws among n meet, over k. DeepEP forwards to the other ranks inside the node, and
/// its kernels reach the adapters' rate (deepseek-ai/DeepEP README, 43 to 58 of 50 GB/s).
double distinct_share(std::int64_t copies, std::int64_t nodes) {
  if (copies == 1) return 1.0;
  const auto n = static_cast<double>(nodes);
  const auto k = static_cast<double>(copies);
  return n * (1.0 - quantity::pow(1.0 - 1.0 / n, k)) / k;
}

/// Machines that one link joins are one node. Racks are filled evenly: 128 accelerators sit in two of 64, not in one of
/// 72 and one of 56.
std::int64_t joined_node(const Links& links, const spec::Layout& layout) {
  const std::int64_t machine = quantity::ceil_divide(layout.gpus, layout.nodes);
  if (links.joined() <= machine) return machine;
  std::int64_t rack = std::min(links.joined(), layout.gpus);
  while (layout.gpus % rack != 0) --rack;
  return std::max(rack, machine);
}

/// Gigabits per second of one machine's network: as said, or as typical of the accelerator.
double node_gigabits(const spec::Accelerator& gpu, const spec::Layout& layout) {
  if (layout.inter_node_gbps) return *layout.inter_node_gbps;
  const auto machine = static_cast<double>(quantity::ceil_divide(layout.gpus, layout.nodes));
  return gpu.network_gbps ? *gpu.network_gbps * machine : assumed_gigabits;
}

}  // namespace

Network::Network(const Links& links, const spec::Accelerator& gpu, const spec::Layout& layout)
    : links_(links),
      node_(joined_node(links, layout)),
      ranks_(layout.gpus),
      machine_(spec::accelerators_per_node(gpu)) {
  const double machines = static_cast<double>(node_ * layout.nodes) / static_cast<double>(layout.gpus);
  const double gigabytes = node_gigabits(gpu, layout) / bits_per_byte * std::max(1.0, machines);
  node_rate_ = quantity::gigabytes_per_second(network_efficiency * gigabytes);

  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t expert = layout.ep * layout.etp;
  const program::StateSharding sharding(layout);
  const std::int64_t group = sharding.of(layers::Split::tensor).optimizer;
  groups_ = {spread(layout.tp, 1), spread(layout.cp, layout.tp), spread(layout.ep, layout.etp), spread(layout.etp, 1)};
  data_ = spread(replicas, layout.tp);
  expert_data_ = spread(std::max<std::int64_t>(1, replicas * layout.tp / expert), expert);
  sharding_ = spread(group, layout.tp);
  expert_sharding_ = spread(sharding.of(layers::Split::expert).optimizer, expert);
  replicas_ = spread(std::max<std::int64_t>(1, replicas / group), layout.tp * group);
  stages_ = spread(layout.pp, layout.tp * replicas);
}

/// Ranks that are `stride` apart in the numbering, of which consecutive ones fill a node. Where groups do not fill it
/// evenly, some lie over its edges, of which it has two, and the others wait for them.
GroupSpan Network::spread(std::int64_t ranks, std::int64_t stride) const {
  if (ranks == 1) return {};
  const std::int64_t block = ranks * stride;
  const bool fills = node_ % block == 0 || machine_ % block == 0;  // or a full one, where a run leaves part of it
  const bool lies_over_edges = node_ < ranks_ && block < node_ && !fills;
  if (lies_over_edges) return {ranks, std::gcd(ranks, node_ / stride), 2 * stride};
  GroupSpan span{ranks, std::clamp<std::int64_t>(node_ / stride, 1, ranks), 1};
  while (span.ranks % span.per_node != 0) --span.per_node;
  span.sharing = std::max<std::int64_t>(1, node_ / span.per_node);
  return span;
}

Seconds Network::collective(Collective kind, Bytes size, const GroupSpan& span, std::int64_t copies) const {
  if (span.ranks <= 1 || size <= Bytes()) return {};
  if (kind == Collective::ring) {
    const std::int64_t steps = span.ranks - 1;
    return static_cast<double>(steps) * to_neighbour(quantity::bytes(quantity::in_bytes(size) / steps), span);
  }
  if (span.nodes() == 1) return links_.collective(kind, size, span.ranks, span.ranks);
  return between_nodes(kind, size, span, copies);
}

Seconds Network::broadcast(Bytes size, const GroupSpan& span) const {
  const Seconds around = collective(Collective::all_gather, size, span);
  if (span.nodes() == 1 || size <= Bytes()) return around;
  return around - latency(Collective::all_gather, span) + static_cast<double>(span.ranks - 1) * broadcast_hop;
}

Seconds Network::inside_nodes(Collective kind, Bytes size, const GroupSpan& span) const {
  if (span.per_node <= 1 || size <= Bytes()) return {};
  if (kind == Collective::all_to_all && span.nodes() > 1) {
    const Bytes staying = quantity::bytes(quantity::in_bytes(size) / span.nodes());
    return links_.collective(kind, staying, span.per_node, span.per_node);
  }
  return links_.collective(kind, size, span.per_node, span.ranks);
}

/// Rings and trees are pipelined: the slower of links and network sets the pace (NCCL src/graph/topo.cc takes the
/// narrowest link of a ring). Groups of one node share all its adapters, so a tensor-parallel group over several
/// nodes has them to itself and eight data-parallel groups an eighth each.
Seconds Network::between_nodes(Collective kind, Bytes size, const GroupSpan& span, std::int64_t copies) const {
  const double rate = kind == Collective::all_to_all && copies == 1 ? all_to_all_rate : 1.0;
  const double sent = leaving(kind, span) * distinct_share(copies, span.nodes());
  const Seconds wire = sent * static_cast<double>(span.sharing) / rate * (size / node_rate_);
  const Seconds setup = kind == Collective::all_to_all && copies > 1 ? dispatch_setup : Seconds{};
  return std::max(inside_nodes(kind, size, span), wire) + start + latency(kind, span) + setup;
}

/// A message that leaves the node goes through the sender's own adapter, its share of the node's.
Seconds Network::to_neighbour(Bytes size, const GroupSpan& span) const {
  const Seconds inside = links_.neighbours(size, span.per_node);
  if (span.nodes() == 1) return inside;
  return std::max(inside, static_cast<double>(node_) * (size / node_rate_) + start + hop);
}

Seconds Network::to_next_stage(Bytes size) const {
  if (stages_.ranks <= 1 || size <= Bytes()) return {};
  return to_neighbour(size, stages_);
}

namespace {

std::string link_source(const spec::Accelerator& gpu) {
  const FabricCurves& curves = link_curves(gpu);
  const double own = quantity::in_gigabytes_per_second(link_bandwidth(gpu));
  const double measured = quantity::in_gigabytes_per_second(curves.link);
  std::string text = fmt::format("in a node: NCCL measured on {}", curves.name);
  if (own != measured) text += fmt::format(", scaled from {:g} to {:g} GB/s a link", measured, own);
  return text;
}

}  // namespace

std::string network_source(const spec::Accelerator& gpu, const spec::Layout& layout) {
  if (layout.nodes == 1) return link_source(gpu);
  const bool known = layout.inter_node_gbps || gpu.network_gbps;
  const std::string_view whose = layout.inter_node_gbps ? "--inter-node"
                                 : known                ? "typical of the accelerator"
                                                        : "assumed";
  return fmt::format("{}; between nodes: {:g} Gbit/s a node ({}) at {:.0f} %", link_source(gpu),
                     node_gigabits(gpu, layout), whose, 100.0 * network_efficiency);
}

/// Grace's superchips have NVLink-C2C to the host instead of PCIe; pinned copies are taken to reach the same share.
Seconds to_host(const spec::Accelerator& gpu, Bytes size) {
  const auto link = gpu.host_link ? *gpu.host_link : board_bandwidth(gpu);
  return size / quantity::bytes_per_second(gpu.rates.host.pinned * in_bytes_per_second(link));
}

}  // namespace llmcalc::timing
