// What leaves the accelerator for the memory of its host or its drives, and how much that is.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/states.hpp"

#include <cstdint>
#include <limits>

namespace llmcalc::program {

/// States that rest elsewhere between their uses.
struct Offloaded {
  bool weights = false;
  bool gradients = false;  ///< each moves out as soon as it has been reduced
  bool optimizer = false;  ///< moments and master weights, which the host also updates
  bool activations = false;
  std::int64_t layers = 0;  ///< of a stage, its first, whose activations leave; unlimited: those of all blocks
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  bool to_nvme = false;  ///< states rest on drives, and the host has buffers for what is on its way
};

Offloaded make_offload(const spec::Question& question, const frameworks::Profile& profile);

/// Bytes of one rank beside its accelerator.
struct Elsewhere {
  quantity::Bytes host;
  quantity::Bytes nvme;

  Elsewhere& operator+=(const Elsewhere& other);
};

/// Takes what rests elsewhere out of `states` and returns its bytes.
Elsewhere move_out(States& states, const Offloaded& offload);

/// Pinned buffers of the host through which states pass to and from drives. \param trained  parameters of this rank
quantity::Bytes swap_buffers(const Offloaded& offload, std::int64_t trained);

}  // namespace llmcalc::program
