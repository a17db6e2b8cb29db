// The kinds of changes: apply functions of all_changes(), and how many forms each has at most.
#pragma once

#include "search/inner/changes.hpp"

#include <cstddef>

namespace llmcalc::search {

/// @name changes_kernels.cpp
/// @{
bool flash_attention(Changed& run, Larger larger, std::size_t step);
bool fused_optimizer(Changed& run, Larger larger, std::size_t step);
bool smaller_loss(Changed& run, Larger larger, std::size_t step);
bool recompute(Changed& run, Larger larger, std::size_t step);
/// @}

/// @name changes_batch.cpp
/// @{
bool smaller_micro_batch(Changed& run, Larger larger, std::size_t step);
/// As many as a micro-batch has divisors.
std::size_t smaller_micro_batches(const spec::Question& question, Larger larger);
bool shorter_sequence(Changed& run, Larger larger, std::size_t step);
bool smaller_moments(Changed& run, Larger larger, std::size_t step);
bool precomputed_reference(Changed& run, Larger larger, std::size_t step);
/// @}

/// @name changes_method.cpp
/// @{
bool adapters(Changed& run, Larger larger, std::size_t step);
/// A frozen base in 16 bits, of trainers that load it in 32.
bool narrow_base(Changed& run, Larger larger, std::size_t step);
/// Adapters beside attention alone, of a mixture whose every expert would have some.
bool attention_adapters(Changed& run, Larger larger, std::size_t step);
bool quantization(Changed& run, Larger larger, std::size_t step);
/// @}

/// @name changes_machine.cpp
/// @{
inline constexpr std::size_t sharding_stages = 4;
bool shard(Changed& run, Larger larger, std::size_t step);
/// Twice, four times, ... as many data-parallel ranks, with everything sharded that the framework shards.
inline constexpr std::size_t doublings = 10;
bool more_accelerators(Changed& run, Larger larger, std::size_t step);
bool next_accelerator(Changed& run, Larger larger, std::size_t step);
std::size_t larger_accelerators(const spec::Question& question, Larger larger);
/// @}

/// @name changes_spread.cpp
/// @{
/// What tensor parallelism leaves whole on every rank, cut along the sequence.
bool sequence_parallel(Changed& run, Larger larger, std::size_t step);

/// Layers cut over twice, four times, ... as many accelerators, which share a replica instead of having one each.
bool tensor_parallel(Changed& run, Larger larger, std::size_t step);

/// Experts spread over two, four, ... times as many of the ranks that there are, each of which had all of them.
bool expert_parallel(Changed& run, Larger larger, std::size_t step);

/// The same as tensor_parallel() with stages of layers.
bool pipeline(Changed& run, Larger larger, std::size_t step);

/// @}

/// @name changes_offload.cpp
/// @{
/// The least that leaves comes first: activations, optimizer states, gradients, weights.
bool offload(Changed& run, Larger larger, std::size_t step);

/// How many ways there are at most.
std::size_t offloads(const spec::Question& question, Larger larger);

/// Checkpoints that gather less in one place.
bool spread_checkpoint(Changed& run, Larger larger, std::size_t step);
/// @}

}  // namespace llmcalc::search
