// One entry of a preset file -> a preset.
#pragma once

#include "read/presets.hpp"
#include "read/presets/json.hpp"
#include "read/presets/names.hpp"

namespace llmcalc::read {

/// \param base      the preset named by the entry's "base": what the entry does not say is taken from its shape or its
///     numbers; or nullptr
/// \param families  that read a "config" beside those that ship
/// \throws quantity::BadInput with file and JSON pointer
ModelPreset read_model_entry(const JsonPlace& entry, const ModelPreset* base,
                             const std::vector<PresetFile>& families = {});
AcceleratorPreset read_accelerator_entry(const JsonPlace& entry, const AcceleratorPreset* base);

RatesPreset read_rates_entry(const JsonPlace& entry, const RatesPreset* base);

PresetNames names_of(const ModelPreset& preset);
PresetNames names_of(const AcceleratorPreset& preset);

}  // namespace llmcalc::read
