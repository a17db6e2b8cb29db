// The profiles of frameworks on plain PyTorch. What they share is a chain of tensor operations with autograd between
// them; they differ in how model, loss and training loop are written.
#pragma once

#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

Profile torch_profile(const spec::Training& training);

}  // namespace llmcalc::frameworks
