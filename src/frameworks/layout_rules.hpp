// Layouts that no run can have in a framework, for whoever asks about one and for whoever searches all.
#pragma once

#include "spec/layout_rules.hpp"

namespace llmcalc::frameworks {

/// Megatron-LM counts the embedding and the loss as a layer each in the pipeline's split (core/transformer/
/// transformer_block.py, get_num_layers_to_build: account_for_embedding_in_pipeline_split and account_for_loss_in_...),
/// which is assumed where the layers come out even with these two and not without.
bool counts_ends_as_layers(const spec::LayoutUse& use);

/// The first rule that is broken, or nullptr.
const spec::LayoutRule* broken_rule(const spec::LayoutUse& use);

/// Of the rules that look at this and at no more, the first that is broken, or nullptr.
const spec::LayoutRule* broken_rule(const spec::LayoutUse& use, spec::LooksAt what);

}  // namespace llmcalc::frameworks
