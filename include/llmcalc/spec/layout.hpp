// How a run is spread over accelerators.
#pragma once

#include <cstdint>
#include <optional>

namespace llmcalc::spec {

enum class Sharding { none, ddp, zero1, zero2, zero3, fsdp1, fsdp2, hsdp };

/// Order in which a pipeline stage runs the passes of its micro-batches. With virtual stages 1F1B is interleaved.
enum class Schedule {
  one_f_one_b,  ///< one forward, one backward (Narayanan et al. 2021, arXiv:2104.04473 §2.2)
  gpipe,        ///< all forward, then all backward (Huang et al. 2018, arXiv:1811.06965)
  zero_bubble   ///< ZB-H1: weight gradients fill the bubble at 1F1B's memory (Qi et al. 2023, arXiv:2401.10241 §2.1)
};

/// How the ranks of a context-parallel group see each other's keys and values.
enum class ContextExchange {
  ring,       ///< keys and values go round (Liu et al. 2023, arXiv:2310.01889)
  all_to_all  ///< positions are exchanged for heads (Jacobs et al. 2023, arXiv:2309.14509)
};

struct Layout {
  std::int64_t gpus = 1;
  std::int64_t nodes = 1;
  std::int64_t dp = 1;
  std::int64_t tp = 1;
  bool sp = false;  ///< Megatron sequence parallelism
  std::int64_t pp = 1;
  std::int64_t vpp = 1;  ///< virtual stages a rank
  Schedule schedule = Schedule::one_f_one_b;
  std::optional<std::int64_t> first_stage_layers;  ///< empty: as many as the other stages
  std::optional<std::int64_t> last_stage_layers;
  std::int64_t cp = 1;
  ContextExchange cp_exchange = ContextExchange::ring;
  std::int64_t ep = 1;
  std::int64_t etp = 1;
  bool node_dispatch = false;   ///< a token is sent once to each node of its experts, not once to each expert
  bool expert_overlap = false;  ///< experts' exchanges of one micro-batch run beside the work of another
  Sharding sharding = Sharding::none;
  bool reshard = true;  ///< FSDP drops a layer's gathered weights behind its forward pass and gathers them again
  std::optional<bool> data_overlap;  ///< gradients and weights travel beside the passes; empty: the framework's way
  std::int64_t sharding_group = 0;   ///< ranks over which states are sharded; 0: all data-parallel ranks
  std::optional<double> inter_node_gbps;  ///< network of one node, gigabits per second

  friend bool operator==(const Layout&, const Layout&) = default;
};

}  // namespace llmcalc::spec
