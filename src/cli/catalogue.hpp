// The presets in force: those of the program, and those of the user on top.
#pragma once

#include "cli/arguments.hpp"
#include "cli/environment.hpp"
#include "read/presets.hpp"

namespace llmcalc::cli {

/// With --presets that folder, else the user's configuration folder if there is one.
/// Both hold models/*.json and accelerators/*.json.
read::Catalogue open_catalogue(const Arguments& arguments, const Environment& environment);

/// The same with what --calibration, or else calibration.json in the user's folder of presets, says of the user's own
/// runs; "none" says nothing of them.
read::Catalogue open_calibrated(const Arguments& arguments, const Environment& environment);

}  // namespace llmcalc::cli
