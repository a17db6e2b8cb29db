// Which measured rates stand for an accelerator: of the user's entries and of those that ship.
#pragma once

#include "read/presets.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::read {

/// What an entry leaves out that names no base.
inline constexpr std::string_view usual_rates = "unmeasured";

/// The entries of a user's files. \throws quantity::BadInput with file and JSON pointer
std::vector<RatesPreset> read_rates(const std::vector<PresetFile>& files);

/// The entry of that name. \throws quantity::BadInput at `place` with the nearest names
spec::Rates named_rates(const std::vector<RatesPreset>& users, std::string_view name, std::string_view place);

/// The first entry that stands for the accelerator, the user's latest before those that ship; else the usual rates.
spec::Rates rates_for(const std::vector<RatesPreset>& users, const spec::Accelerator& gpu);

}  // namespace llmcalc::read
