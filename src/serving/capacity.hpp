// What fits: the longest context, the most requests, and what stands in the way of more. All by bisection on the
// function that gives the ledger, so that a printed answer, asked again, fits, and one more does not.
#pragma once

#include "serving/engine.hpp"

#include <cstdint>
#include <string>

namespace llmcalc::serving {

struct Capacity {
  std::int64_t context = 0;          ///< of the question: what verdict and concurrency are about
  std::int64_t max_context = 0;      ///< of one request; 0: none fits
  std::int64_t shared_context = 0;   ///< of as many requests at once as were asked for
  std::int64_t max_concurrency = 0;  ///< requests of `context` at once, over the whole deployment
  std::int64_t running = 0;          ///< of the concurrency asked for
  std::int64_t queued = 0;
  std::int64_t cache_tokens = 0;  ///< positions that fit, over one copy of the attention part
  std::string binding;            ///< what stops the next request
};

/// True if so many requests of that length run at once.
bool fits(const Deployment& deployment, std::int64_t length, std::int64_t concurrency);

Capacity capacity_of(const Deployment& deployment);

}  // namespace llmcalc::serving
