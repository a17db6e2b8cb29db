// The peaks of an accelerator by name, so that text and JSON list the same.
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::render {

struct NamedPeak {
  std::string_view name;
  std::optional<quantity::FlopRate> spec::Accelerator::Peaks::*rate;
};

inline constexpr NamedPeak named_peaks[] = {
    {"fp64", &spec::Accelerator::Peaks::fp64}, {"fp64_matrix", &spec::Accelerator::Peaks::fp64_matrix},
    {"fp32", &spec::Accelerator::Peaks::fp32}, {"fp32_matrix", &spec::Accelerator::Peaks::fp32_matrix},
    {"tf32", &spec::Accelerator::Peaks::tf32}, {"fp16", &spec::Accelerator::Peaks::fp16},
    {"bf16", &spec::Accelerator::Peaks::bf16}, {"fp8", &spec::Accelerator::Peaks::fp8},
    {"int8", &spec::Accelerator::Peaks::int8}, {"fp4", &spec::Accelerator::Peaks::fp4},
};

}  // namespace llmcalc::render
