// Layouts that no run can have, for whoever asks about one and for whoever searches all.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"

#include <string_view>

namespace llmcalc::spec {

/// What a rule looks at.
struct LayoutUse {
  const Shape& shape;
  const Training& training;
  const Layout& layout;
};

/// A rule, and the two terms of the vocabulary that contradict each other where it is broken.
struct LayoutRule {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint;
  bool (*broken)(const LayoutUse& use);
};

/// Megatron-LM counts the embedding and the loss as a layer each in the pipeline's split (core/transformer/
/// transformer_block.py, get_num_layers_to_build: account_for_embedding_in_pipeline_split and account_for_loss_in_...),
/// which is assumed where the layers come out even with these two and not without.
bool counts_ends_as_layers(const LayoutUse& use);

/// The machines of a run of which only the accelerators were said: as few as hold them and the same number each, with
/// up to twice as many machines as full ones would be. Where they cannot be shared evenly, those of full machines.
std::int64_t usual_nodes(std::int64_t gpus, std::int64_t per_node);

/// The first rule that is broken, or nullptr.
const LayoutRule* broken_rule(const LayoutUse& use);

}  // namespace llmcalc::spec
