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
  tensor,
  pipeline,
  experts,
  method,
  accelerator
};

/// Accelerators to consider instead of the present one.
using Larger = std::span<const spec::Accelerator>;

/// A question after a change, and the words for it.
struct Changed {
  spec::Question question;
  std::vector<ChangedTerm> terms;  ///< one of each
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

}  // namespace llmcalc::search
