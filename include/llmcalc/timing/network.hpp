// What it takes to exchange data between the ranks of a run.
#pragma once

#include "llmcalc/program/program.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/layout.hpp"

#include <cstdint>

namespace llmcalc::timing {

/// The ranks of one group, and how many of them share a node.
struct Span {
  std::int64_t ranks = 1;
  std::int64_t per_node = 1;

  std::int64_t nodes() const { return ranks / per_node; }
};

/// The links of one run and where its groups lie on them, looked up once.
class Network {
 public:
  Network(const spec::Accelerator& gpu, const spec::Layout& layout);

  /// Where a group lies when ranks are numbered tensor, context, data, pipeline, innermost first, and experts are
  /// spread over the data-parallel ranks (Megatron-LM core/parallel_state.py, order "tp-cp-ep-dp-pp").
  Span span(program::Group group) const;
  Span data() const;         ///< ranks that reduce gradients of the dense weights: data and context parallel
  Span expert_data() const;  ///< ranks that reduce gradients of the experts' weights
  Span sharding() const;     ///< of `data`, those that shard states among them

  /// \param size  bytes of the whole tensor on one rank (after an all-gather, before a reduce-scatter); of a ring what
  ///              one rank passes on in all its steps
  quantity::Seconds collective(program::Collective kind, quantity::Bytes size, const Span& span) const;

  /// One activation from a pipeline stage to the next.
  quantity::Seconds to_next_stage(quantity::Bytes size) const;
};

}  // namespace llmcalc::timing
