#include "frameworks/layout_rules.hpp"

#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc::frameworks {

using quantity::product;
using spec::Layout;
using spec::OffloadTarget;
using spec::Sharding;

namespace {

/// They are the same on every rank, so that none can hold a part of the sequence. Prefixes are past keys and values,
/// which checkpoints do not pass on (peft peft_model.py, "Prefix tuning does not work with gradient checkpointing").
bool learns_positions(const LayoutUse& use) { return use.training.adapter.virtual_tokens > 0; }

std::int64_t layers(const LayoutUse& use) { return use.shape.layers + use.shape.decoder_layers; }

bool has_grouped_heads(const LayoutUse& use) { return use.shape.latent.kv_rank == 0; }

/// Ranks that exchange positions for heads need whole heads each (Jacobs et al. 2023, arXiv:2309.14509 section 3.1;
/// TransformerEngine attention/dot_product_attention/context_parallel.py, AttnFuncWithCPAndQKVOA2A).
bool exchanges_heads(const LayoutUse& use) {
  return use.layout.cp > 1 && use.layout.cp_exchange == spec::ContextExchange::all_to_all;
}

std::int64_t head_ranks(const LayoutUse& use) { return product(use.layout.tp, use.layout.cp); }

/// Stages whose number of layers is said leave the others as many layers each, and at least one a virtual stage.
bool leaves_others_short(const LayoutUse& use) {
  const Layout& l = use.layout;
  const std::int64_t chunks = product(l.pp - (l.first_stage_layers ? 1 : 0) - (l.last_stage_layers ? 1 : 0), l.vpp);
  const std::int64_t left = use.shape.layers - l.first_stage_layers.value_or(0) - l.last_stage_layers.value_or(0);
  return chunks == 0 ? left != 0 : left < chunks || left % chunks != 0;
}

constexpr std::string_view ring_hint = "--cp-exchange ring passes keys and values round instead";
constexpr std::string_view all_layers_shared = "the stages without a number of their own share the others evenly";
constexpr std::string_view equal_virtual_stages = "a stage's virtual stages are equally large";

bool runs_deepspeed(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::deepspeed;
}

bool shards_by_deepspeed(const LayoutUse& use) {
  return runs_deepspeed(use.training) || hands_to_deepspeed(use.training, use.layout.sharding);
}

bool is_core(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::megatron_core;
}

/// ZeRO-Infinity belongs to stage 3 of DeepSpeed (Rajbhandari et al. 2021, arXiv:2104.07857); a textbook run may have
/// it as it likes.
bool swaps_to_drives(const LayoutUse& use) {
  const bool deepspeed = shards_by_deepspeed(use) && use.layout.sharding == Sharding::zero3;
  return deepspeed || row_of(use.training.framework).states == StateRecipe::textbook;
}

std::int64_t chunks(const Layout& layout) { return product(layout.pp, layout.vpp); }

/// The embedding and the loss.
constexpr std::int64_t ends = 2;

/// What its arguments ask of the overlap (Megatron-LM training/arguments.py, overlap_moe_expert_parallel_comm).
bool overlaps_experts(const LayoutUse& use) { return use.layout.expert_overlap && use.layout.ep > 1; }

/// "full recompute is only supported with full iteration CUDA graph" (Megatron-LM core/transformer/
/// transformer_config.py, __post_init__).
bool recomputes_in_graphs(const LayoutUse& use) {
  const bool whole_layers = use.training.recompute.policy == spec::RecomputePolicy::full;
  return use.training.cuda_graph == spec::CudaGraph::scoped && whole_layers;
}

// DeepSpeed's offload_param belongs to stage 3 (runtime/zero/config.py), and its pipeline has no stage 2 or 3
// (runtime/pipe/engine.py, PipelineEngine).
//
// Tensor cuts: Megatron-LM core/transformer/transformer_config.py, __post_init__. Interleaved schedules go through the
// micro-batches in rounds of pp (core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving). A
// stage whose layers are said keeps them, the others share the rest evenly, and each stage cuts its own into virtual
// stages (transformer_config.py, num_layers_in_first_pipeline_stage).
constexpr LayoutRule rules[] = {
    {"offload", "sharding", "DeepSpeed moves weights to the host in stage 3 only",
     "--sharding zero3, or --offload optimizer",
     [](const LayoutUse& use) {
       return shards_by_deepspeed(use) && spec::offloads_weights(use.training.offload) &&
              use.layout.sharding != Sharding::zero3;
     },
     LooksAt::states},
    {"offload", "recompute", "its activations leave the accelerator where layers are computed again",
     "--recompute full",
     [](const LayoutUse& use) {
       return use.training.offload == spec::Offload::activations &&
              use.training.recompute.policy != spec::RecomputePolicy::full;
     },
     LooksAt::policy, [](const spec::Training& training) { return row_of(training.framework).offloads_inputs_alone; }},
    {"offload_to", "framework", "DeepSpeed's stage 3 alone keeps states on drives", "--framework deepspeed --zero 3",
     [](const LayoutUse& use) { return use.training.offload_to == OffloadTarget::nvme && !swaps_to_drives(use); },
     LooksAt::states},
    {"sharding", "pp", "DeepSpeed's pipeline shards optimizer states alone", "--sharding zero1",
     [](const LayoutUse& use) { return use.layout.pp > 1 && spec::zero_stage(use.layout.sharding) > 1; },
     LooksAt::states, runs_deepspeed},
    {"expert_overlap", "vpp", "Megatron Core overlaps experts in a pipeline of virtual stages alone", "--vpp 2",
     [](const LayoutUse& use) { return overlaps_experts(use) && use.layout.pp > 1 && use.layout.vpp == 1; },
     LooksAt::order, is_core},
    {"expert_overlap", "recompute", "Megatron Core overlaps no experts that it recomputes whole", "--recompute none",
     [](const LayoutUse& use) {
       return overlaps_experts(use) && use.training.recompute.policy == spec::RecomputePolicy::full;
     },
     LooksAt::policy, is_core},
    {"cuda_graph", "recompute", "Megatron Core recomputes whole layers in graphs of the whole iteration alone",
     "--recompute none, or --cuda-graph full", recomputes_in_graphs, LooksAt::policy, is_core},
    {"cuda_graph", "offload", "Megatron Core has no graphs where activations leave the accelerator",
     "--cuda-graph none",
     [](const LayoutUse& use) {
       const bool has_graphs = use.training.cuda_graph != spec::CudaGraph::none;
       return has_graphs && use.training.offload == spec::Offload::activations;
     },
     LooksAt::states, is_core},
    {"vpp", "layers", "every virtual stage needs a layer", "",
     [](const LayoutUse& use) {
       return use.layout.vpp > 1 && chunks(use.layout) > use.shape.layers + use.shape.decoder_layers +
                                                             (counts_ends_as_layers(use) ? ends : 0);
     },
     LooksAt::order},
    {"cuda_graph", "framework", "only what runs on Megatron-Core has the choice", "",
     [](const LayoutUse& use) { return use.training.cuda_graph != spec::CudaGraph::none && !is_core(use.training); },
     LooksAt::policy},
    {"grad_accum", "optimizer", "it updates in every backward pass, so nothing accumulates", "",
     [](const LayoutUse& use) {
       return use.training.grad_accum > 1 && spec::updates_in_backward(use.training.optimizer);
     },
     LooksAt::order},
    {"cp", "method", "learned positions are not spread over ranks", "",
     [](const LayoutUse& use) { return use.layout.cp > 1 && learns_positions(use); }, LooksAt::ranks},
    {"sp", "method", "learned positions are not spread over ranks", "",
     [](const LayoutUse& use) { return use.layout.sp && learns_positions(use); }, LooksAt::order},
    {"recompute", "method", "prefixes do not pass through checkpoints", "--recompute none",
     [](const LayoutUse& use) {
       return use.training.method == spec::Method::prefix &&
              use.training.recompute.policy == spec::RecomputePolicy::full;
     },
     LooksAt::policy},
    {"offload_to", "offload", "only states rest on drives", "--offload optimizer, params or params+optimizer",
     [](const LayoutUse& use) {
       const auto kind = use.training.offload;
       return use.training.offload_to == OffloadTarget::nvme &&
              (kind == spec::Offload::none || kind == spec::Offload::activations);
     },
     LooksAt::states},
    {"reshard", "sharding", "only FSDP gathers weights layer by layer", "--sharding fsdp2",
     [](const LayoutUse& use) { return !use.layout.reshard && !spec::is_fsdp(use.layout.sharding); }, LooksAt::states},
    {"ep", "experts", "every rank holds the same number of experts", "",
     [](const LayoutUse& use) {
       return use.layout.ep > 1 && (use.shape.moe.experts == 0 || use.shape.moe.experts % use.layout.ep != 0);
     },
     LooksAt::ranks},
    {"sp", "tp", "sequence parallelism splits what tp leaves whole", "",
     [](const LayoutUse& use) { return use.layout.sp && use.layout.tp == 1; }, LooksAt::order},
    {"vpp", "pp", "virtual stages need a pipeline", "",
     [](const LayoutUse& use) { return use.layout.vpp > 1 && use.layout.pp == 1; }, LooksAt::order},
    {"pp", "layers", "every stage needs a layer", "",
     [](const LayoutUse& use) { return use.layout.pp > 1 && use.layout.pp > layers(use); }, LooksAt::ranks},
    {"nodes", "gpus", "every node has the same number", "",
     [](const LayoutUse& use) { return use.layout.gpus % use.layout.nodes != 0; }, LooksAt::ranks},
    {"etp", "expert_ffn", "the width of an expert is cut evenly", "--etp 1 leaves experts whole",
     [](const LayoutUse& use) { return use.layout.etp > 1 && use.shape.moe.expert_ffn % use.layout.etp != 0; },
     LooksAt::ranks},
    {"ep", "gpus", "ep x etp divides dp x tp x cp", "--etp 1 leaves experts whole",
     [](const LayoutUse& use) {
       const Layout& l = use.layout;
       return product(l.dp, l.tp, l.cp) % product(l.ep, l.etp) != 0;
     },
     LooksAt::ranks},
    {"tp", "heads", "every rank has the same number of heads", "",
     [](const LayoutUse& use) { return use.shape.heads % use.layout.tp != 0; }, LooksAt::ranks},
    {"tp", "kv_heads", "every rank has the same number of key and value heads", "",
     [](const LayoutUse& use) {
       return has_grouped_heads(use) && use.shape.kv_heads > 1 && use.shape.kv_heads % use.layout.tp != 0;
     },
     LooksAt::ranks},
    {"tp", "ffn", "the width of the MLP is cut evenly", "",
     [](const LayoutUse& use) { return use.shape.ffn % use.layout.tp != 0; }, LooksAt::ranks},
    {"cp", "seq", "every rank has the same number of positions", "",
     [](const LayoutUse& use) { return use.training.seq % use.layout.cp != 0; }, LooksAt::ranks},
    {"sp", "seq", "tensor-parallel ranks share the positions evenly", "",
     [](const LayoutUse& use) { return use.layout.sp && (use.training.seq / use.layout.cp) % use.layout.tp != 0; },
     LooksAt::order},
    {"cp", "heads", "all-to-all gives every rank of tp x cp the same number of heads", ring_hint,
     [](const LayoutUse& use) { return exchanges_heads(use) && use.shape.heads % head_ranks(use) != 0; },
     LooksAt::ranks},
    {"cp", "kv_heads", "all-to-all gives every rank of tp x cp its own key and value heads", ring_hint,
     [](const LayoutUse& use) {
       return exchanges_heads(use) && has_grouped_heads(use) && use.shape.kv_heads % head_ranks(use) != 0;
     },
     LooksAt::ranks},
    {"schedule", "vpp", "only 1F1B is interleaved", "--schedule 1f1b, or --vpp 1",
     [](const LayoutUse& use) { return use.layout.vpp > 1 && use.layout.schedule != spec::Schedule::one_f_one_b; },
     LooksAt::order},
    {"vpp", "grad_accum", "interleaving needs micro-batches in multiples of pp", "",
     [](const LayoutUse& use) { return use.layout.vpp > 1 && use.training.grad_accum % use.layout.pp != 0; },
     LooksAt::order},
    {"first_stage_layers", "pp", "there is one stage, which has all layers", "",
     [](const LayoutUse& use) { return use.layout.first_stage_layers && use.layout.pp == 1; }, LooksAt::ranks},
    {"last_stage_layers", "pp", "there is one stage, which has all layers", "",
     [](const LayoutUse& use) { return use.layout.last_stage_layers && use.layout.pp == 1; }, LooksAt::ranks},
    {"first_stage_layers", "model", "two stacks are cut evenly", "",
     [](const LayoutUse& use) { return use.layout.first_stage_layers && use.shape.decoder_layers > 0; },
     LooksAt::ranks},
    {"last_stage_layers", "model", "two stacks are cut evenly", "",
     [](const LayoutUse& use) { return use.layout.last_stage_layers && use.shape.decoder_layers > 0; }, LooksAt::ranks},
    {"first_stage_layers", "vpp", equal_virtual_stages, "",
     [](const LayoutUse& use) { return use.layout.first_stage_layers.value_or(0) % use.layout.vpp != 0; },
     LooksAt::order},
    {"last_stage_layers", "vpp", equal_virtual_stages, "",
     [](const LayoutUse& use) { return use.layout.last_stage_layers.value_or(0) % use.layout.vpp != 0; },
     LooksAt::order},
    {"first_stage_layers", "layers", all_layers_shared, "",
     [](const LayoutUse& use) { return use.layout.first_stage_layers && leaves_others_short(use); }, LooksAt::order},
    {"last_stage_layers", "layers", all_layers_shared, "",
     [](const LayoutUse& use) { return use.layout.last_stage_layers && leaves_others_short(use); }, LooksAt::order},
    {"sharding_group", "sharding", "nothing is sharded", "",
     [](const LayoutUse& use) { return use.layout.sharding_group > 0 && spec::zero_stage(use.layout.sharding) == 0; },
     LooksAt::states},
    {"sharding_group", "dp", "groups are equally large", "",
     [](const LayoutUse& use) {
       const std::int64_t group = use.layout.sharding_group;
       return group > 0 && product(use.layout.dp, use.layout.cp) % group != 0;
     },
     LooksAt::states},
};

template <class IsAsked>
const LayoutRule* first_broken(const LayoutUse& use, const IsAsked& is_asked) {
  const auto breaks = [&](const LayoutRule& rule) { return is_asked(rule) && rule.broken(use); };
  return quantity::find_if_or_null(rules, breaks);
}

}  // namespace

std::span<const LayoutRule> layout_rules() { return rules; }

bool counts_ends_as_layers(const LayoutUse& use) {
  const Layout& l = use.layout;
  if (!is_core(use.training) || l.pp == 1 || l.first_stage_layers || l.last_stage_layers ||
      use.shape.decoder_layers > 0)
    return false;
  return use.shape.layers % chunks(l) != 0 && (use.shape.layers + ends) % chunks(l) == 0;
}

const LayoutRule* broken_rule(const LayoutUse& use) {
  return first_broken(use, [](const LayoutRule&) { return true; });
}

const LayoutRule* broken_rule(const LayoutUse& use, LooksAt what) {
  return first_broken(use, [&](const LayoutRule& rule) { return rule.looks_at == what; });
}

namespace {

using quantity::BadInput;

struct Count {
  std::string_view term;
  std::int64_t value;
};

/// Everything that something is divided by, or of which nothing would be left.
void check_counts(const spec::Question& question) {
  const spec::Training& t = question.training;
  const spec::Layout& l = question.layout;
  const Count counts[] = {{"seq", t.seq},
                          {"micro_batch", t.micro_batch},
                          {"grad_accum", t.grad_accum},
                          {"global_batch", t.global_batch},
                          {"recompute", t.recompute.count},
                          {"gpus", l.gpus},
                          {"nodes", l.nodes},
                          {"dp", l.dp},
                          {"tp", l.tp},
                          {"pp", l.pp},
                          {"vpp", l.vpp},
                          {"cp", l.cp},
                          {"ep", l.ep},
                          {"etp", l.etp}};
  for (const Count& count : counts) {
    if (count.value < 1) throw BadInput(std::string(count.term), fmt::format("{} is less than 1", count.value));
  }
}

void check_products(const spec::Question& question) {
  const spec::Layout& l = question.layout;
  if (quantity::product(l.dp, l.tp, l.pp, l.cp) == l.gpus) return;
  throw BadInput("gpus", fmt::format("{} are not dp x tp x pp x cp", l.gpus));
}

void check_rates(const spec::Question& question) {
  const auto& mfu = question.pricing.mfu;
  if (mfu && !(*mfu > 0.0 && *mfu <= 1.0)) throw BadInput("mfu", fmt::format("{} is no share above 0", *mfu));
  const auto& ratio = question.runtime.reserved_ratio;
  if (ratio && !(*ratio >= 1.0 && std::isfinite(*ratio))) {
    throw BadInput("reserved_ratio", fmt::format("{} is less than 1", *ratio));
  }
}

/// Without them nothing has a speed.
void check_accelerator(const spec::Question& question) {
  if (!question.gpu || question.gpu->rates.known()) return;
  throw BadInput("gpu", "no rates were looked up for '" + question.gpu->id + "'", "read::Catalogue::add_rates");
}

void check_layout(const spec::Question& question) {
  const auto* rule = broken_rule({question.model.shape, question.training, question.layout});
  if (rule == nullptr) return;
  throw BadInput(std::string(rule->term), fmt::format("contradicts {}: {}", rule->other, rule->why),
                 std::string(rule->hint));
}

}  // namespace

void check_question(const spec::Question& question) {
  if (question.model.layers.empty()) throw BadInput("layers", "the model was not built", "spec::build_model(shape)");
  check_counts(question);
  check_products(question);
  check_rates(question);
  check_accelerator(question);
  check_layout(question);
}

}  // namespace llmcalc::frameworks
