// Layouts that no run can have.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"

#include <span>
#include <string_view>

namespace llmcalc::spec {

/// What a rule looks at.
struct LayoutUse {
  const Shape& shape;
  const Training& training;
  const Layout& layout;
};

/// What a rule looks at. A search that chooses one after the other asks each rule no more often than it must.
enum class LooksAt {
  ranks,   ///< how tensors, positions, experts and layers are cut over ranks, and nothing else
  order,   ///< beside that schedule, virtual stages, split sequences and micro-batches
  states,  ///< beside ranks how states are sharded and offloaded
  policy   ///< beside ranks and states what is recomputed and what runs as graphs
};

/// A rule, and the two terms of the vocabulary that contradict each other where it is broken.
struct LayoutRule {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint;
  bool (*broken)(const LayoutUse& use);
  LooksAt looks_at = LooksAt::policy;
};

/// The machines of a run of which only the accelerators were said: as few as hold them and the same number each, with
/// up to twice as many machines as full ones would be. Where they cannot be shared evenly, those of full machines.
std::int64_t usual_nodes(std::int64_t gpus, std::int64_t per_node);

/// Those that hold in any framework; frameworks/layout_rules.hpp has the others and asks all.
std::span<const LayoutRule> layout_rules();

}  // namespace llmcalc::spec
