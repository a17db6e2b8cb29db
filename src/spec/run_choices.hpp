// What a search over runs may choose.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/training.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::spec {

/// Values that each dimension may take; an empty list stands for every legal one.
struct RunChoices {
  std::vector<std::int64_t> dp, tp, pp, vpp, cp, ep, etp, micro_batch;
  std::vector<bool> sp;
  std::vector<Schedule> schedule;
  std::vector<ContextExchange> cp_exchange;
  std::vector<bool> node_dispatch, expert_overlap;
  std::vector<CudaGraph> cuda_graph;
  std::vector<Sharding> sharding;
  std::vector<Recompute> recompute;
  std::vector<Offload> offload;
  bool states_grads = false;  ///< the type of gradients was said; otherwise it follows the sharding where that decides
};

}  // namespace llmcalc::spec
