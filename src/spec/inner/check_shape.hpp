// The invariants of a shape: after check_shape() every room may trust it.
#pragma once

#include "llmcalc/spec/shape.hpp"

namespace llmcalc::spec {

/// \throws quantity::BadInput naming the field ("hidden"), the value and what was expected
void check_shape(const Shape& shape);

}  // namespace llmcalc::spec
