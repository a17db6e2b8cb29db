// What kernels ask of the sizes of quantized matrices.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <cstdint>

namespace llmcalc::serving {

struct Padded {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// A matrix as the engine's kernel holds it.
Padded padded(const spec::Question& question, const layers::Weight& weight);

}  // namespace llmcalc::serving
