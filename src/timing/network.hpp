// What it takes to exchange data between the ranks of a run.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/layout.hpp"
#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace llmcalc::timing {

struct FabricCurves;

/// The links of one accelerator inside a node, looked up once for all its layouts.
class Links {
 public:
  explicit Links(const spec::Accelerator& gpu);

  /// A collective among ranks of one node.
  /// \param ring  ranks over which the whole tensor goes round: more than `ranks` where nodes take part in a larger
  /// ring
  quantity::Seconds collective(layers::Collective kind, quantity::Bytes size, std::int64_t ranks,
                               std::int64_t ring) const;

  /// Each rank sends so much to the next one. \param ranks  those of the node that do
  quantity::Seconds neighbours(quantity::Bytes size, std::int64_t ranks) const;

  /// Accelerators that the link joins where that is not a node's number; 0 where it is.
  std::int64_t joined() const { return joined_; }

 private:
  /// A measured fabric and how much slower this accelerator's is.
  struct Fabric {
    const FabricCurves* curves;
    double slowdown;
  };
  const Fabric& among(std::int64_t ranks) const { return joined_ == 0 || ranks <= joined_ ? link_ : board_; }

  Fabric link_;   ///< PCIe as well where there is no other
  Fabric board_;  ///< the host's PCIe
  std::int64_t joined_ = 0;
};

/// The ranks of one group, and how they lie on nodes. A node is here whatever the accelerators' own link joins: the
/// machine, or the 72 accelerators of an NVL72 rack.
struct GroupSpan {
  std::int64_t ranks = 1;
  std::int64_t per_node = 1;
  std::int64_t sharing = 1;  ///< groups of one node that communicate at the same time and share its network

  std::int64_t nodes() const { return ranks / per_node; }
};

/// The links of one run and where its groups lie on them. It allocates nothing and compares no text.
class Network {
 public:
  Network(const spec::Accelerator& gpu, const spec::Layout& layout) : Network(Links(gpu), gpu, layout) {}
  Network(const Links& links, const spec::Accelerator& gpu, const spec::Layout& layout);

  /// Where a group lies when ranks are numbered tensor, context, data, pipeline, innermost first, and experts are
  /// spread over the data-parallel ranks (Megatron-LM core/parallel_state.py, order "tp-cp-ep-dp-pp").
  GroupSpan span(layers::RankGroup group) const { return groups_[static_cast<std::size_t>(group)]; }
  GroupSpan data() const {
    return data_;
  }  ///< ranks that reduce gradients of the dense weights: data and context parallel
  GroupSpan expert_data() const { return expert_data_; }  ///< ranks that reduce gradients of the experts' weights
  GroupSpan sharding() const { return sharding_; }        ///< of `data`, those that shard states among them
  GroupSpan expert_sharding() const { return expert_sharding_; }  ///< of `expert_data` likewise
  GroupSpan replicas() const { return replicas_; }                ///< of `data`, those that hold the same shard (HSDP)

  /// \param size  bytes of the whole tensor on one rank (after an all-gather, before a reduce-scatter); of a ring what
  ///              one rank passes on in all its steps
  /// \param copies  of each row of an all-to-all that are for random ranks; a node that several are for is sent one
  quantity::Seconds collective(layers::Collective kind, quantity::Bytes size, const GroupSpan& span,
                               std::int64_t copies = 1) const;

  /// From one rank to all others.
  quantity::Seconds broadcast(quantity::Bytes size, const GroupSpan& span) const;

  /// One activation from a pipeline stage to the next. \param size  what one rank sends
  quantity::Seconds to_next_stage(quantity::Bytes size) const;

 private:
  /// Time that a collective between nodes takes of the links within them.
  quantity::Seconds inside_nodes(layers::Collective kind, quantity::Bytes size, const GroupSpan& span) const;
  GroupSpan spread(std::int64_t ranks, std::int64_t stride) const;
  quantity::Seconds between_nodes(layers::Collective kind, quantity::Bytes size, const GroupSpan& span,
                                  std::int64_t copies) const;
  quantity::Seconds to_neighbour(quantity::Bytes size, const GroupSpan& span) const;

  Links links_;
  std::int64_t node_ = 1;          ///< accelerators of a node
  std::int64_t ranks_ = 1;         ///< of the run
  std::int64_t machine_ = 8;       ///< accelerators of a full machine
  quantity::Bandwidth node_rate_;  ///< what a node sends
  std::array<GroupSpan, 4> groups_;
  GroupSpan data_;
  GroupSpan expert_data_;
  GroupSpan sharding_;
  GroupSpan expert_sharding_;
  GroupSpan replicas_;
  GroupSpan stages_;
};

/// Share of the adapters' rate that large collectives reach: Calculon's .9 for InfiniBand (systems/a100_80g.json);
/// NVIDIA shows .95 for 8 x 200 and 8 x 400 Gbit/s and .80 for TCP (GTC 2024, S62129).
inline constexpr double network_efficiency = 0.9;

/// A copy between an accelerator and its host, one way.
quantity::Seconds to_host(const spec::Accelerator& gpu, quantity::Bytes size);

/// Where the prices of this run's communication come from, for a person.
std::string network_source(const spec::Accelerator& gpu, const spec::Layout& layout);

}  // namespace llmcalc::timing
