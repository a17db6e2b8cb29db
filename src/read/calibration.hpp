// What a person's own measured runs say of estimates, as a file.
#pragma once

#include "llmcalc/spec/measured_here.hpp"
#include "llmcalc/spec/training.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Of runs of one framework.
struct OwnRuns {
  spec::Framework framework = spec::Framework::generic;
  spec::Calibration calibration;
};

/// The runs of a file that `llmcalc validate --calibrate` wrote.
/// \param file  its name, for messages
/// \throws quantity::BadInput with file and JSON pointer when it is no such file
std::vector<OwnRuns> read_calibration(std::string_view text, std::string_view file);

}  // namespace llmcalc::read
