// Everything that the description of a family says of a shape, read from a file.
#pragma once

#include "read/config/reader.hpp"

namespace llmcalc::read {

/// \throws quantity::BadInput that names every missing key, or at the key of a value that does not fit
void read_shape(ConfigReader& reader);

}  // namespace llmcalc::read
