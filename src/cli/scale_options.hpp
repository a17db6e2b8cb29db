// The options of `llmcalc scale`, and the question that they ask.
#pragma once

#include "cli/arguments.hpp"
#include "laws/scaling.hpp"

#include <string>
#include <vector>

namespace llmcalc::cli {

struct ScaleOptions {
  laws::ScaleQuestion question;
  std::string gpu;  ///< name of the preset; empty when none was given
};

std::vector<Flag> scale_flags();

/// \throws quantity::BadInput for a value that cannot be read and for two options that say the same
ScaleOptions read_scale_options(const Arguments& arguments);

}  // namespace llmcalc::cli
