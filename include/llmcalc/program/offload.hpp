// What leaves the accelerator for the memory of its host, and how much that is.
#pragma once

#include "llmcalc/program/profile.hpp"
#include "llmcalc/program/states.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::program {

/// What rests on the host between its uses.
struct Offload {
  bool weights = false;
  bool gradients = false;  ///< each moves out as soon as it has been reduced
  bool optimizer = false;  ///< moments and master weights, which the host also updates
  bool activations = false;
};

Offload make_offload(const spec::Question& question, const Profile& profile);

/// Takes what rests on the host out of `states` and returns its bytes.
quantity::Bytes move_to_host(States& states, const Offload& offload);

}  // namespace llmcalc::program
