// Over how many data-parallel ranks each kind of state is spread.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "program/program.hpp"

#include <cstdint>

namespace llmcalc::program {

/// Shards of the states of one weight: 1 where every rank keeps the whole.
struct Shards {
  std::int64_t weights = 1;
  std::int64_t gradients = 1;
  std::int64_t optimizer = 1;  ///< moments and master weights
};

/// ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054 §5): stage 1 spreads optimizer states, 2 gradients too, 3 and FSDP
/// weights too. Experts have fewer replicas than dense weights: dp*cp*tp / (ep*etp) (Megatron-LM
/// core/parallel_state.py, expert data parallel group).
class StateSharding {
 public:
  StateSharding() = default;
  explicit StateSharding(const spec::Layout& layout);

  const Shards& of(layers::Split split) const { return split == layers::Split::expert ? expert_ : dense_; }
  /// Weights exist whole only while their layer runs.
  bool gathers_weights() const { return gathers_; }
  /// They are whole from a step's first micro-batch to its last, and so are their gradients: FSDP2 in a pipeline
  /// (torchtitan models/llama3/infra/parallelize.py, apply_fsdp, reshard_after_forward; torch/distributed/pipelining/
  /// stage.py, backward_maybe_with_nosync).
  bool gathers_once() const { return gathers_once_; }
  bool shards_gradients() const { return shards_gradients_; }  ///< stages 2 and 3 and FSDP, be it over one rank
  bool replicates_with_buckets() const { return buckets_; }    ///< torch DDP with more than one rank

 private:
  Shards dense_;
  Shards expert_;
  bool gathers_ = false;
  bool gathers_once_ = false;
  bool shards_gradients_ = false;
  bool buckets_ = false;
};

}  // namespace llmcalc::program
