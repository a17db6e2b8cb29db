// The quantization of a config.json or hf_quant_config.json, and its keys as readers of checkpoints ask for them.
#pragma once

#include "read/checkpoint.hpp"
#include "read/config/document.hpp"

#include <optional>

namespace llmcalc::read {

std::optional<ConfigObject> quantization_of(const ConfigDocument& document);

/// \param model  what has a key that stands beside the block
/// \throws quantity::BadInput at a key that holds something else, when it is asked for
KeyText keys_of(const ConfigObject& block, const ConfigObject& model);

}  // namespace llmcalc::read
