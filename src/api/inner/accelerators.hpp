// Accelerators to propose in the place of one that is too small.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "read/presets.hpp"

#include <optional>
#include <vector>

namespace llmcalc::api {

/// Parts of the same make with more memory, the smallest first: of a card larger cards, and the data centre's that are
/// rented at a known price.
std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue);

/// One of each capacity that people have, the smallest first.
std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue);

}  // namespace llmcalc::api
