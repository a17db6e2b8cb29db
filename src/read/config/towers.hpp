// The encoders of images and sound that a file describes beside its text model.
#pragma once

#include "read/config/family.hpp"
#include "read/config/reader.hpp"

namespace llmcalc::read {

/// \param text  whose shape gets the towers
/// \throws quantity::BadInput when a tower's configuration lacks a key
void read_towers(const Families& families, const Family& wrapper, ConfigReader& text);

}  // namespace llmcalc::read
