// One accelerator: what its data sheet and its owners say of it.
#pragma once

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/rates.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace llmcalc::spec {

struct Accelerator {
  std::string id;
  std::string name;
  std::string vendor;
  std::string arch;
  std::int64_t year = 0;
  quantity::Bytes memory_nominal;  ///< as marketed
  quantity::Bytes memory_usable;   ///< what the driver offers to programs; capacities default to this
  bool usable_verified = false;
  std::string memory_type;
  quantity::Bandwidth memory_bandwidth;

  /// Dense peaks with fp32 accumulation; empty where the part does not have the type.
  struct Peaks {
    std::optional<quantity::FlopRate> fp64, fp64_matrix, fp32, fp32_matrix, tf32, fp16, bf16, fp8, int8, fp4;
  } peaks;

  std::string interconnect;
  std::optional<quantity::Bandwidth> link;       ///< to its peers in the node, one direction
  std::optional<quantity::Bandwidth> pcie;       ///< to the host, one direction
  std::optional<quantity::Bandwidth> host_link;  ///< to the host where it is faster than PCIe, one direction
  std::int64_t joined = 0;                       ///< accelerators that `link` joins; 0: those of a node
  bool peers = true;                             ///< whether over PCIe one reaches the memory of another
  std::int64_t gpus_per_node = 1;
  std::int64_t slices = 0;                     ///< instances that MIG cuts it into at most; 0: none
  std::optional<quantity::Bytes> host_memory;  ///< one accelerator's share of its machine's; 0: they are one memory
  std::string host_memory_source;
  std::optional<double> network_gbps;  ///< typical network share of one accelerator, gigabits per second
  std::optional<double> tdp_watts;
  std::optional<std::int64_t> units;     ///< SMs or CUs
  std::optional<quantity::Bytes> cache;  ///< of the last level, where it was seen to make kernels faster
  std::optional<double> matmul_ceiling;  ///< best measured bf16 matrix product as a share of the peak
  std::string matmul_ceiling_source;
  Rates rates;            ///< that were measured of it or of a relative; looked up by what reads presets
  Generation generation;  ///< its own or the nearest; looked up likewise
  std::optional<quantity::Money> price_per_hour;  ///< rented, or what an hour takes of one that is bought
  std::optional<quantity::Money> bought_for;      ///< where no list of rates has it
  std::string price_source;
  std::string sources;
  std::string verification;  ///< A: read in several places, B: one place, C: inferred
  std::string notes;
};

/// Empty of one that is bought, or of an unknown price.
inline std::optional<quantity::Money> rent_of(const Accelerator& gpu) {
  return gpu.bought_for ? std::nullopt : gpu.price_per_hour;
}

/// The part of an accelerator's memory that may be taken.
struct MemoryLimits {
  std::optional<quantity::Bytes> memory;  ///< no more, where it is less than the accelerator has
  std::optional<quantity::Bytes> margin;  ///< that must be left
  std::optional<double> margin_share;     ///< the same, of what it has

  /// Bytes that a capacity must have left.
  quantity::Bytes margin_of(quantity::Bytes capacity) const;
};

/// The dense matrix peak that products in `compute` reach; falls back to the next wider type the part has.
/// \throws quantity::BadInput when the part has no peak that can carry `compute`
quantity::FlopRate matrix_peak(const Accelerator& gpu, formats::Dtype compute);

/// Peak of 16-bit products, in bf16 or, where the part does not have it, in fp16.
quantity::FlopRate half_peak(const Accelerator& gpu);

/// Whether its generation has it; nothing said means a current part of a data centre.
inline bool can(const std::optional<Accelerator>& gpu, Ability ability) { return !gpu || gpu->generation.can(ability); }

}  // namespace llmcalc::spec
