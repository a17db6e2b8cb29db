// Kinds of changes that have a file of their own: apply functions of all_changes().
#pragma once

#include "search/changes.hpp"

#include <cstddef>

namespace llmcalc::search {

/// Layers cut over twice, four times, ... as many accelerators, which share a replica instead of having one each.
bool tensor_parallel(Changed& run, Larger larger, std::size_t step);

/// Experts spread over two, four, ... times as many of the ranks that there are, each of which had all of them.
bool expert_parallel(Changed& run, Larger larger, std::size_t step);

/// The same as tensor_parallel() with stages of layers.
bool pipeline(Changed& run, Larger larger, std::size_t step);

/// The least that leaves comes first: activations, optimizer states, gradients, weights.
bool offload(Changed& run, Larger larger, std::size_t step);

/// How many ways there are at most.
std::size_t offloads(const spec::Question& question, Larger larger);

/// Checkpoints that gather less in one place.
bool spread_checkpoint(Changed& run, Larger larger, std::size_t step);

}  // namespace llmcalc::search
