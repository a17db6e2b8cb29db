// The fields of a model preset that describe its shape.
#pragma once

#include "read/presets.hpp"
#include "read/presets/json.hpp"

namespace llmcalc::read {

std::span<const Field<ModelPreset>> shape_fields();

/// Fills in what follows from the rest and refuses a shape that lacks a dimension.
void complete_shape(spec::Shape& shape, const JsonPlace& entry);

}  // namespace llmcalc::read
