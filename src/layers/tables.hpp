// Tables whose rows are looked up.
#pragma once

#include "layers/builder.hpp"

namespace llmcalc::layers {

/// Of rows x columns, its rows cut over tensor-parallel ranks when `cut`.
WeightId table(BlockBuilder& b, std::string_view name, std::int64_t rows, std::int64_t columns, bool cut);

}  // namespace llmcalc::layers
