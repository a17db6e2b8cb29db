// Accelerators to propose in the place of one that is too small.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "read/presets.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace llmcalc::api {

/// Data-centre parts of the same make with more memory, the smallest first, each read when it is asked for.
class LargerParts {
 public:
  /// \pre the catalogue outlives it
  LargerParts(const std::optional<spec::Accelerator>& present, const read::Catalogue& catalogue);

  std::optional<spec::Accelerator> next();

 private:
  const read::Catalogue& catalogue_;
  std::vector<std::string_view> ids_;
  std::size_t at_ = 0;
};

std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue);

/// One of each capacity that people have, the smallest first.
std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue);

}  // namespace llmcalc::api
