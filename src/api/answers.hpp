// From words to everything that is said about one run or one server: what the command line and the library share.
#pragma once

#include "llmcalc/llmcalc.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "render/serving.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace llmcalc::api {

/// \throws quantity::BadInput naming the place of what is wrong or missing
Answer fit(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values = {});

struct ServeOptions {
  std::optional<serving::Find> find;
  bool layout = false;                                           ///< --find layout: the whole search
  bool table = false;                                            ///< the matrix of contexts and concurrencies
  std::shared_ptr<const std::vector<spec::Request>> trace = {};  ///< of --requests
};

/// \throws quantity::BadInput naming the place of what is wrong or missing
render::ServingReport serve(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                            const read::Catalogue& catalogue, const ServeOptions& options = {});

/// Accelerators to propose in the place of one that is too small: parts of the same make with more memory, the smallest
/// first: of a card larger cards, and the data centre's that are rented at a known price.
std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue);

/// One of each capacity that people have, the smallest first.
std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue);

}  // namespace llmcalc::api
