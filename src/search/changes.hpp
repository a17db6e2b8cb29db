// The changes that can make a run smaller, written once, in ascending order of what they cost.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <span>
#include <string>
#include <string_view>

namespace llmcalc::search {

/// Two changes of one kind touch the same options and are never combined.
enum class ChangeKind { kernel, loss, optimizer, sharding, micro_batch, recompute, reference, method, accelerator };

/// A question after a change, and the words for it.
struct Changed {
  spec::Question question;
  std::string flag;
  std::string change;
  std::string cost;
};

struct Change {
  ChangeKind kind;
  bool in_place;  ///< the same training on the same accelerators
  /// Applies the `step`-th smallest form of the change, from 0 on; false when there is none.
  bool (*apply)(Changed& run, std::span<const spec::Accelerator> larger, std::size_t step);
};

std::span<const Change> all_changes();

}  // namespace llmcalc::search
