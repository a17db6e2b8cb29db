// The profiles of frameworks on plain PyTorch. What they share is a chain of tensor operations with autograd between
// them; they differ in how model, loss and training loop are written.
#pragma once

#include "llmcalc/program/profile.hpp"

namespace llmcalc::program {

Profile torch_profile(const spec::Training& training);

}  // namespace llmcalc::program
