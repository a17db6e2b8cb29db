// How a context is shared between a prompt and its answer where nobody says.
#pragma once

#include "llmcalc/spec/serving.hpp"

#include <algorithm>
#include <cstdint>

namespace llmcalc::spec {

/// Tokens of an answer where nobody says, at most those that there is room for.
constexpr std::int64_t answer_within(std::int64_t room) {
  constexpr std::int64_t usual = 256;
  return std::min(usual, room);
}

/// Whether requests are read and nothing is written for them: embeddings, scores and labels.
constexpr bool reads_only(const Load& load) { return load.output == 0; }

/// Whether nobody said how long requests are, nor sequences: room is counted for whole contexts then, and these lengths
/// are what speed is told of, for example.
constexpr bool is_example(const Load& load) { return !load.lengths_said && load.context == 0 && load.trace == nullptr; }

/// An answer of at most half the context, and the prompt in the rest.
constexpr void share_context(Load& load) {
  load.output = answer_within(load.context / 2);
  load.prompt = load.context - load.output;
}

}  // namespace llmcalc::spec
