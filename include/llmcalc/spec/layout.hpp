// How a run is spread over accelerators.
#pragma once

#include <cstdint>
#include <optional>

namespace llmcalc::spec {

enum class Sharding { none, ddp, zero1, zero2, zero3, fsdp1, fsdp2, hsdp };

struct Layout {
  std::int64_t gpus = 1;
  std::int64_t nodes = 1;
  std::int64_t dp = 1;
  std::int64_t tp = 1;
  bool sp = false;  ///< Megatron sequence parallelism
  std::int64_t pp = 1;
  std::int64_t vpp = 1;  ///< virtual stages a rank
  std::int64_t cp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;
  Sharding sharding = Sharding::none;
  std::int64_t sharding_group = 0;        ///< ranks over which states are sharded; 0: all data-parallel ranks
  std::optional<double> inter_node_gbps;  ///< network of one node, gigabits per second

  friend bool operator==(const Layout&, const Layout&) = default;
};

}  // namespace llmcalc::spec
