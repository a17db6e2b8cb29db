// A number format by its name.
#pragma once

#include "llmcalc/formats/dtype.hpp"

#include <string_view>

namespace llmcalc::cli {

/// \throws quantity::BadInput at `place` with the nearest names
formats::Dtype find_dtype(std::string_view name, std::string_view place);

}  // namespace llmcalc::cli
