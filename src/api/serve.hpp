// From words to everything that is said about one server: what the command line and the library share.
#pragma once

#include "read/resolve.hpp"
#include "render/serving.hpp"

#include <optional>
#include <vector>

namespace llmcalc::api {

struct ServeOptions {
  std::optional<serving::Find> find;
  bool layout = false;  ///< --find layout: the whole search
  bool table = false;   ///< the matrix of contexts and concurrencies
};

/// \throws quantity::BadInput naming the place of what is wrong or missing
render::ServingReport serve(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                            const read::Catalogue& catalogue, const ServeOptions& options = {});

}  // namespace llmcalc::api
