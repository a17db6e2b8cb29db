#include "layers/inner/builder.hpp"

#include <algorithm>

namespace llmcalc::layers {

namespace {

/// Without a list the attention core is run again (Korthikanti et al. 2022, arXiv:2205.05198 §5; Megatron-LM
/// core/transformer/transformer_config.py, recompute_modules).
bool covers(const Context& c, spec::RecomputeModule module) {
  const auto& recompute = c.training.recompute;
  if (recompute.policy != spec::RecomputePolicy::selective || c.selects_operations) return false;
  if (recompute.modules.empty()) return module == spec::RecomputeModule::core_attn;
  return std::ranges::find(recompute.modules, module) != recompute.modules.end();
}

}  // namespace

Recomputed::Recomputed(BlockBuilder& b, spec::RecomputeModule module, std::initializer_list<Value> inputs)
    : Recomputed(b, covers(b.context(), module), inputs) {}

Recomputed::Recomputed(BlockBuilder& b, bool covered, std::initializer_list<Value> inputs) : b_(b) {
  if (!covered || b.in_recompute_group()) return;
  group_ = b.open_recompute_group(inputs);
  open_ = true;
}

void Recomputed::end() {
  if (open_) b_.close_recompute_group();
  open_ = false;
}

void Recomputed::discard(std::initializer_list<Value> results) {
  end();
  if (group_ == 0) return;
  for (const Value& x : results) b_.block().tensors[x.id].discarded = true;
}

void Recomputed::remake() {
  if (group_ != 0) b_.block().ops.back().remakes.push_back(group_);
}

}  // namespace llmcalc::layers
