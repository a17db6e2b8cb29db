// Changes that move a part of a run into the memory of its host.
#pragma once

#include "search/changes.hpp"

#include <cstddef>

namespace llmcalc::search {

/// The least that leaves comes first: activations, optimizer states, gradients, weights.
bool offload(Changed& run, Larger larger, std::size_t step);

/// How many ways there are at most.
std::size_t offloads(const spec::Question& question, Larger larger);

}  // namespace llmcalc::search
