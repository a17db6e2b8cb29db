// The options of `llmcalc scale`, and the question that they ask.
#pragma once

#include "api/arguments.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/formats/dtype.hpp"

#include <string>
#include <vector>

namespace llmcalc::api {

struct ScaleOptions {
  laws::ScaleQuestion question;
  std::string gpu;  ///< name of the preset; empty when none was given
};

/// \throws quantity::BadInput at `place` with the nearest names
formats::Dtype find_dtype(std::string_view name, std::string_view place);

/// \throws quantity::BadInput for a value that cannot be read and for two options that say the same
ScaleOptions read_scale_options(const Arguments& arguments);

}  // namespace llmcalc::api
