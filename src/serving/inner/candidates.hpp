// A changed question and what comes of it, as advice and --find weigh them.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "serving/advice.hpp"
#include "serving/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace llmcalc::serving {

/// Whether it carries the load that was asked for, within its limits: all requests at once, or as many a second as
/// come.
bool carries(const Deployment& deployment, const Capacity& capacity);

/// Candidate that a changed question makes.
/// \param change  as it is typed
/// \param cost    what it costs in words
Candidate weigh(const spec::Question& question, std::string change, std::string cost);

/// Requests within a context, and what asks for them: lengths that were said and do not fit into it are said again.
std::pair<spec::Question, std::string> with_context(spec::Question question, std::int64_t context);

/// Copies of a server, each on so many ranks and stages, and those that read prompts for them.
struct Copies {
  std::int64_t tp = 1;
  std::int64_t count = 1;
  std::int64_t readers = 0;
  std::int64_t pp = 1;
};

/// The question on as many accelerators as these copies take. Without ranks `tp` are the cards that hold a copy's
/// layers.
spec::Question copied(spec::Question question, const Copies& copies);

/// Whether each of so many tensor-parallel ranks has the same part of every layer.
bool can_cut(const spec::Question& question, std::int64_t tp);

/// The types in which weights rest that an engine's users take, the widest first.
std::span<const formats::Quant> ladder(spec::Engine engine);
/// Type of an engine that is most like another: the same, one that is named alike, or that of its own with bits most
/// alike.
formats::Quant nearest(const EngineRow& row, formats::Quant asked);

/// The largest n for which `holds`, which holds for all smaller ones; 0 where it does not hold for 1. It was asked of
/// both the answer and, below the limit, of one more.
template <class Holds>
std::int64_t largest(std::int64_t limit, const Holds& holds) {
  if (limit < 1 || !holds(1)) return 0;
  std::int64_t low = 1;
  std::int64_t high = 2;
  while (high < limit && holds(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, limit);
  if (holds(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace llmcalc::serving
