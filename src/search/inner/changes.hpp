// The changes that can make a run smaller, written once, in ascending order of what they cost.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "search/advice.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::search {

/// Two changes of one kind touch the same options and are never combined.
enum class ChangeKind {
  kernel,
  optimizer_kernel,
  loss,
  recompute,
  micro_batch,
  reference,
  base,
  targets,
  sequence_parallel,
  checkpoint,
  sequence,
  sharding,
  offload,
  optimizer,
  context,
  tensor,
  pipeline,
  experts,
  method,
  accelerator
};

/// Accelerators to consider instead of the present one.
using Larger = std::span<const spec::ProposedAccelerator>;

/// A question after a change, and the words for it.
struct Changed {
  spec::Question question;
  std::vector<spec::Word> terms;  ///< one of each
  std::string change;
  std::string cost;
};

struct Change {
  ChangeKind kind;
  /// How many forms the change has at most.
  std::size_t (*steps)(const spec::Question& question, Larger larger);
  /// Applies the `step`-th smallest form of the change, from 0 on; false when there is none.
  bool (*apply)(Changed& run, Larger larger, std::size_t step);
  bool makes_room = false;  ///< for the others of a set: it may have to be made before them
};

std::span<const Change> all_changes();

/// Changes to activations, kernels and temporaries, and of the accelerator: weights and states rest as before.
bool leaves_states(ChangeKind kind);

/// Changes to how states rest alone: passes keep what they kept.
bool leaves_passes(ChangeKind kind);

bool shard_states(Changed& run, Larger larger, std::size_t step);
bool shard_weights(Changed& run, Larger larger, std::size_t step);
/// Twice, four times, ... as many data-parallel ranks, with everything sharded that the framework shards.
std::size_t doublings(const spec::Question& question, Larger larger);
bool more_accelerators(Changed& run, Larger larger, std::size_t step);
bool next_accelerator(Changed& run, Larger larger, std::size_t step);
std::size_t larger_accelerators(const spec::Question& question, Larger larger);

/// Tensors that tensor parallelism leaves whole on every rank, cut along the sequence.
bool sequence_parallel(Changed& run, Larger larger, std::size_t step);

/// Long sequences cut over twice, four times, ... as many accelerators, which share a replica instead of having one
/// each.
bool context_parallel(Changed& run, Larger larger, std::size_t step);

/// Layers cut over twice, four times, ... as many accelerators, which share a replica instead of having one each.
bool tensor_parallel(Changed& run, Larger larger, std::size_t step);

/// Experts spread over two, four, ... times as many of the ranks that there are, each of which had all of them.
bool expert_parallel(Changed& run, Larger larger, std::size_t step);

/// Layers cut as by tensor_parallel(), but into stages.
bool pipeline(Changed& run, Larger larger, std::size_t step);

/// The least that leaves comes first: activations, optimizer states, gradients, weights.
bool offload(Changed& run, Larger larger, std::size_t step);

/// How many ways there are at most.
std::size_t offloads(const spec::Question& question, Larger larger);

/// Checkpoints that gather less in one place.
bool spread_checkpoint(Changed& run, Larger larger, std::size_t step);

/// Appends to the words of a run that may have been changed before; of a term the last value counts.
void say(Changed& run, const std::vector<spec::Word>& terms, std::string_view change, std::string_view cost);

}  // namespace llmcalc::search
