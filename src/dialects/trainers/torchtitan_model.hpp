// The models of torchtitan's registry.
#pragma once

#include "dialects/core/sheet.hpp"

namespace llmcalc::dialects {

/// What model.name and model.flavor stand for, or --module and --config, with what the name says of its products.
void take_torchtitan_model(Sheet& sheet);

}  // namespace llmcalc::dialects
