// Lengths of micro-batches that are filled up to their longest sample.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcalc::memory {

/// Whether samples are said to be shorter than their sequence, and none are packed into it.
bool has_lengths(const spec::Question& question);

/// Tokens of one micro-batch after the other: `equal` full ones, or where samples are said to be shorter, lengths as
/// they are spread with that mean, of which the last is the longest.
std::vector<std::int64_t> batch_lengths(const spec::Question& question, std::size_t equal);

/// As if all micro-batches had that length.
spec::Question of_length(const spec::Question& question, std::int64_t length);

}  // namespace llmcalc::memory
