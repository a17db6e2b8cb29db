// A search on all cores.
#pragma once

#include "search/plan.hpp"

#include <cstdint>

namespace llmcalc::cli {

/// Which units of a space to search: those whose number leaves `index` when divided by `of`.
struct Shard {
  std::int64_t index = 0;
  std::int64_t of = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

struct PoolOptions {
  unsigned threads = 1;
  Shard shard;
  bool draws_progress = false;  ///< a bar on stderr
  bool stops_at_first = false;  ///< whether anything fits is all that is asked
};

struct Searched {
  search::Findings findings;
  double share = 1.0;  ///< of the units; below 1 when somebody interrupted
};

/// The findings do not depend on the number of threads. Ctrl-C ends the search with what has been found so far.
Searched search(const search::PlanSpace& space, const PoolOptions& options);

/// As many as the machine has cores.
unsigned default_threads();

}  // namespace llmcalc::cli
