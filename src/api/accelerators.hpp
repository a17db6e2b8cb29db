// Accelerators to propose in the place of one that is too small.
#pragma once

#include "llmcalc/read/presets.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <optional>
#include <vector>

namespace llmcalc::api {

/// Data-centre parts of the same make with more memory, the smallest first.
std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue);

/// One of each capacity that people have, the smallest first.
std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue);

}  // namespace llmcalc::api
