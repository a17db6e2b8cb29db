// Layouts that no run can have, or none in a framework: the one table for whoever asks about one and whoever searches
// all.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"

#include <span>
#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::frameworks {

/// Terms that a rule looks at.
struct LayoutUse {
  const spec::Shape& shape;
  const spec::Training& training;
  const spec::Layout& layout;
};

/// The part of a layout that a rule looks at. A search that chooses one after the other asks each rule no more often
/// than it must.
enum class LooksAt {
  ranks,   ///< how tensors, positions, experts and layers are cut over ranks, and nothing else
  order,   ///< beside that schedule, virtual stages, split sequences and micro-batches
  states,  ///< beside ranks how states are sharded and offloaded
  policy   ///< beside ranks and states what is recomputed and what runs as graphs
};

/// A rule, a row of presets/layouts, and the two terms of the vocabulary that contradict each other where a run breaks
/// it.
struct LayoutRule {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint;
  LooksAt looks_at;
  bool (*is_broken)(const LayoutUse& use);
  bool (*whose)(const spec::Training& training) = nullptr;  ///< the frameworks that it binds; empty: all

  bool broken(const LayoutUse& use) const { return (whose == nullptr || whose(use.training)) && is_broken(use); }
};

/// All, those of single frameworks first.
std::span<const LayoutRule> layout_rules();

/// Megatron-LM counts the embedding and the loss as a layer each in the pipeline's split (core/transformer/
/// transformer_block.py, get_num_layers_to_build: account_for_embedding_in_pipeline_split and account_for_loss_in_...),
/// which is assumed where the layers come out even with these two and not without.
bool counts_ends_as_layers(const LayoutUse& use);

/// The first rule that is broken, or nullptr.
const LayoutRule* broken_rule(const LayoutUse& use);

/// The first broken one of the rules that look at this and at no more, or nullptr.
const LayoutRule* broken_rule(const LayoutUse& use, LooksAt what);

/// \throws quantity::BadInput naming the term that is missing, out of range or contradicts another
void check_question(const spec::Question& question);

}  // namespace llmcalc::frameworks
