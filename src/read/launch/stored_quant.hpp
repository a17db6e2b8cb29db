// How a checkpoint's own files say that its weights are quantized, as a server finds them.
#pragma once

#include "llmcalc/read/launch.hpp"
#include "read/settings/node.hpp"

#include <string_view>

namespace llmcalc::read {

/// quantization_config of a config.json (transformers utils/quantization_config.py), as --quant; a method that is not
/// known is an assumption.
void take_stored_quant(const Node& config, std::string_view place, Reading& reading);

}  // namespace llmcalc::read
