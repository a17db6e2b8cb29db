// The forward program of a server's rank: prefill and decoding are the layers' own operations, as training builds them.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <cstdint>

namespace llmcalc::serving {

/// One engine step: so many sequences, each with new tokens behind those whose keys and values are kept.
struct Forward {
  std::int64_t sequences = 1;
  std::int64_t tokens = 1;
  std::int64_t cached = 0;
  bool fuses_projections = true;  ///< q, k and v, gate and up as one matrix each, as engines load them
};

/// The model as a rank loads it: the table padded to whole rows of 64 for each rank, keys and values repeated where
/// there are fewer of their heads than ranks.
spec::Question rank_question(const spec::Question& question);

program::Program forward_program(const spec::Question& question, const Forward& forward);

}  // namespace llmcalc::serving
