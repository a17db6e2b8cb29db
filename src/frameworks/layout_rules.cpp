#include "frameworks/layout_rules.hpp"

#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <span>

namespace llmcalc::frameworks {

using spec::Layout;
using spec::LayoutRule;
using spec::LayoutUse;
using spec::LooksAt;
using spec::OffloadTarget;
using spec::Sharding;

namespace {

bool runs_deepspeed(const LayoutUse& use) { return row_of(use.training.framework).engine == TrainingEngine::deepspeed; }

/// ZeRO-Infinity belongs to stage 3 of DeepSpeed (Rajbhandari et al. 2021, arXiv:2104.07857); a textbook run may have
/// it as it likes.
bool swaps_to_drives(const LayoutUse& use) {
  const bool deepspeed = runs_deepspeed(use) && use.layout.sharding == Sharding::zero3;
  return deepspeed || row_of(use.training.framework).states == StateRecipe::textbook;
}

std::int64_t chunks(const Layout& layout) { return quantity::product(layout.pp, layout.vpp); }

/// The embedding and the loss.
constexpr std::int64_t ends = 2;

bool is_core(const LayoutUse& use) { return row_of(use.training.framework).engine == TrainingEngine::megatron_core; }

/// What its arguments ask of the overlap (Megatron-LM training/arguments.py, overlap_moe_expert_parallel_comm).
bool overlaps_experts(const LayoutUse& use) { return use.layout.expert_overlap && use.layout.ep > 1 && is_core(use); }

/// "full recompute is only supported with full iteration CUDA graph" (Megatron-LM core/transformer/
/// transformer_config.py, __post_init__).
bool recomputes_in_graphs(const LayoutUse& use) {
  const bool whole_layers = use.training.recompute.policy == spec::RecomputePolicy::full;
  return is_core(use) && use.training.cuda_graph == spec::CudaGraph::scoped && whole_layers;
}

// DeepSpeed's offload_param belongs to stage 3 (runtime/zero/config.py), and its pipeline has no stage 2 or 3
// (runtime/pipe/engine.py, PipelineEngine).
constexpr LayoutRule rules[] = {
    {"offload", "sharding", "DeepSpeed moves weights to the host in stage 3 only",
     "--sharding zero3, or --offload optimizer",
     [](const LayoutUse& use) {
       return runs_deepspeed(use) && spec::offloads_weights(use.training.offload) &&
              use.layout.sharding != Sharding::zero3;
     },
     LooksAt::states},
    {"offload_to", "framework", "DeepSpeed's stage 3 alone keeps states on drives", "--framework deepspeed --zero 3",
     [](const LayoutUse& use) { return use.training.offload_to == OffloadTarget::nvme && !swaps_to_drives(use); },
     LooksAt::states},
    {"sharding", "pp", "DeepSpeed's pipeline shards optimizer states alone", "--sharding zero1",
     [](const LayoutUse& use) {
       return runs_deepspeed(use) && use.layout.pp > 1 && spec::zero_stage(use.layout.sharding) > 1;
     },
     LooksAt::states},
    {"expert_overlap", "vpp", "Megatron Core overlaps experts in a pipeline of virtual stages alone", "--vpp 2",
     [](const LayoutUse& use) { return overlaps_experts(use) && use.layout.pp > 1 && use.layout.vpp == 1; },
     LooksAt::order},
    {"expert_overlap", "recompute", "Megatron Core overlaps no experts that it recomputes whole", "--recompute none",
     [](const LayoutUse& use) {
       return overlaps_experts(use) && use.training.recompute.policy == spec::RecomputePolicy::full;
     },
     LooksAt::policy},
    {"cuda_graph", "recompute", "Megatron Core recomputes whole layers in graphs of the whole iteration alone",
     "--recompute none, or --cuda-graph full", recomputes_in_graphs, LooksAt::policy},
    {"cuda_graph", "offload", "Megatron Core has no graphs where activations leave the accelerator",
     "--cuda-graph none",
     [](const LayoutUse& use) {
       const bool has_graphs = use.training.cuda_graph != spec::CudaGraph::none;
       return is_core(use) && has_graphs && use.training.offload == spec::Offload::activations;
     },
     LooksAt::states},
    {"vpp", "layers", "every virtual stage needs a layer", "",
     [](const LayoutUse& use) {
       return use.layout.vpp > 1 && chunks(use.layout) > use.shape.layers + use.shape.decoder_layers +
                                                             (counts_ends_as_layers(use) ? ends : 0);
     },
     LooksAt::order},
};

template <class IsAsked>
const LayoutRule* first_broken(const LayoutUse& use, const IsAsked& is_asked) {
  const auto breaks = [&](const LayoutRule& rule) { return is_asked(rule) && rule.broken(use); };
  const LayoutRule* own = quantity::find_if_or_null(rules, breaks);
  return own != nullptr ? own : quantity::find_if_or_null(spec::layout_rules(), breaks);
}

}  // namespace

bool counts_ends_as_layers(const LayoutUse& use) {
  const Layout& l = use.layout;
  if (!is_core(use) || l.pp == 1 || l.first_stage_layers || l.last_stage_layers || use.shape.decoder_layers > 0)
    return false;
  return use.shape.layers % chunks(l) != 0 && (use.shape.layers + ends) % chunks(l) == 0;
}

const LayoutRule* broken_rule(const LayoutUse& use) {
  return first_broken(use, [](const LayoutRule&) { return true; });
}

const LayoutRule* broken_rule(const LayoutUse& use, LooksAt what) {
  return first_broken(use, [&](const LayoutRule& rule) { return rule.looks_at == what; });
}

}  // namespace llmcalc::frameworks
