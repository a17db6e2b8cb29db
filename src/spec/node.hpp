// The machine that accelerators sit in: how many of them, and how much memory beside them.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace llmcalc::spec {

struct Question;

/// How many accelerators share a machine where nobody says: as many as in the accelerator's usual one, else eight, as
/// in NVIDIA's DGX and HGX.
inline std::int64_t accelerators_per_node(const std::optional<Accelerator>& gpu) {
  constexpr std::int64_t usual = 8;
  return gpu && gpu->gpus_per_node > 0 ? gpu->gpus_per_node : usual;
}

/// The most ranks that share each layer: as many as a machine or a rack's own link joins (Narayanan et al. 2021,
/// section 3.4, takeaway 1; vLLM docs, parallelism and scaling). Machines with one accelerator share it over their
/// network all the same (NVIDIA's playbooks of two DGX Spark).
inline std::int64_t most_tensor_ranks(const std::optional<Accelerator>& gpu) {
  const auto together = accelerators_per_node(gpu);
  if (together == 1) return std::numeric_limits<std::int64_t>::max();
  return gpu ? std::max(together, gpu->joined) : together;
}

/// Dies of memory stacked beside the chip (JEDEC JESD235, JESD238: "HBM"), as parts of racks have. Cards of desktops,
/// which have none, nobody joins beyond a machine.
inline bool has_stacked_memory(const Accelerator& gpu) { return gpu.memory_type.starts_with("HBM"); }

/// The machines of a run of which only the accelerators were said: as few as hold them and the same number each, with
/// up to twice as many machines as full ones would be. Where they cannot be shared evenly, those of full machines.
std::int64_t usual_nodes(std::int64_t gpus, std::int64_t per_node);

/// Memory of one machine: what the person said, else what its accelerators come with; empty without an accelerator.
std::optional<quantity::Bytes> host_capacity_of(const Question& question);

/// Memory of one machine that its ranks need together.
quantity::Bytes host_need_of(const Question& question, quantity::Bytes of_rank);

/// Whether anything of the run rests in that memory, or passes through it.
bool uses_host(const Question& question);

}  // namespace llmcalc::spec
