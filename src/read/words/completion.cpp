#include "read/words/completion.hpp"

#include "llmcalc/frameworks/layout_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/layout_rules.hpp"
#include "llmcalc/spec/node.hpp"
#include "read/words/terms.hpp"
#include "read/words/training_rules.hpp"

#include <algorithm>
#include <optional>

namespace llmcalc::read {
namespace {

using frameworks::States;
using quantity::product;
using spec::Method;

constexpr std::int64_t longest_default_seq = 4096;
constexpr std::int64_t assumed_seq = 2048;      // the context of Llama 1 and GPT-3, for a shape known by its size alone
constexpr std::int64_t litgpt_generation = 55;  // litgpt/generate/base.py: 50 new tokens behind a prompt of 5
constexpr std::int64_t peft_rank = 8;           // peft, LoraConfig.r
constexpr std::int64_t fsdp_qlora_rank = 64;    // AnswerDotAI/fsdp_qlora, train.py
constexpr std::int64_t adalora_rank = 12;       // peft, AdaLoraConfig.init_r: with which the singular values start
constexpr std::int64_t virtual_tokens = 20;     // peft's documentation, num_virtual_tokens
constexpr std::int64_t adapter_width = 64;      // Houlsby et al. 2019, arXiv:1902.00751 section 3.2

std::int64_t replica_size(const spec::Layout& layout) { return product(layout.tp, layout.pp, layout.cp); }

/// One of the factors of a product that must come out exactly.
std::int64_t exact_share(const Draft& draft, std::int64_t whole, std::int64_t part, std::string_view whole_term,
                         std::string_view part_term, std::string_view rule) {
  if (whole % part != 0 || whole < part) draft.contradiction(whole_term, part_term, rule);
  return whole / part;
}

/// The term to name when a product of layout degrees does not come out: the first that was given.
std::string_view given_degree(const Draft& draft) {
  for (const std::string_view term : {"tp", "pp", "cp"}) {
    if (draft.given(term)) return term;
  }
  return "dp";
}

void complete_sharding(Draft& draft) {
  if (draft.given("sharding") || draft.layout().dp == 1) return;
  draft.layout().sharding = spec::Sharding::ddp;
  draft.derive("sharding", "dp above 1");
}

constexpr std::string_view node_rule = "gpus = nodes x gpus_per_node";

std::optional<std::int64_t> stated_per_node(Draft& draft) {
  const Given* word = draft.words.find("gpus_per_node");
  if (word == nullptr) return std::nullopt;
  draft.set_origin("gpus_per_node", word->origin);
  return Whole<1>::read(word->text, word->origin.where);
}

/// The accelerators of a run of which only the machines were said.
void count_machines(Draft& draft, std::int64_t per_node) {
  const Given& word = *draft.words.find("nodes");
  draft.layout().gpus =
      check_range(product(draft.layout().nodes, per_node), 1, max_dimension, word.text, word.origin.where);
  draft.derive("gpus", "nodes x gpus_per_node");
}

void complete_nodes(Draft& draft, std::optional<std::int64_t> per_node) {
  spec::Layout& layout = draft.layout();
  if (draft.given("nodes")) {
    if (per_node && product(layout.nodes, *per_node) != layout.gpus) {
      draft.contradiction("gpus_per_node", "gpus", node_rule);
    }
  } else if (per_node) {
    layout.nodes = exact_share(draft, layout.gpus, *per_node, "gpus", "gpus_per_node", node_rule);
    draft.derive("nodes", "gpus / gpus_per_node");
  } else {
    const auto typical = spec::accelerators_per_node(draft.question.gpu);
    layout.nodes = spec::usual_nodes(layout.gpus, typical);
    draft.derive("nodes", "up to " + std::to_string(typical) + " accelerators a node");
  }
  if (!per_node) draft.derive("gpus_per_node", "gpus / nodes");
}

constexpr std::string_view batch_rule = "global_batch = micro_batch x grad_accum x dp";

/// Sequences of one optimizer step on one rank.
std::int64_t batch_of_rank(const Draft& draft, const spec::Training& training, std::int64_t dp) {
  return exact_share(draft, training.global_batch, dp, "global_batch", draft.given("dp") ? "dp" : "gpus", batch_rule);
}

void split_global_batch(Draft& draft) {
  spec::Training& training = draft.training();
  const auto of_rank = batch_of_rank(draft, training, draft.layout().dp);
  if (draft.given("grad_accum") && !draft.given("micro_batch")) {
    training.micro_batch = exact_share(draft, of_rank, training.grad_accum, "global_batch", "grad_accum", batch_rule);
    draft.derive("micro_batch", batch_rule);
    training.batch_of_rank = training.micro_batch;
    return;
  }
  const auto accum = exact_share(draft, of_rank, training.micro_batch, "global_batch", "micro_batch", batch_rule);
  if (draft.given("grad_accum") && accum != training.grad_accum) {
    draft.contradiction("global_batch", "grad_accum", batch_rule);
  }
  training.batch_of_rank = draft.given("grad_accum") ? training.micro_batch : of_rank;
  if (!draft.given("grad_accum")) draft.derive("grad_accum", batch_rule);
  training.grad_accum = accum;
}

std::int64_t default_rank(const spec::Training& training) {
  if (training.framework == spec::Framework::fsdp_qlora) return fsdp_qlora_rank;
  return training.method == Method::adalora ? adalora_rank : peft_rank;
}

void complete_low_rank(Draft& draft) {
  spec::Training& training = draft.training();
  if (training.adapter.rank == 0) {
    training.adapter.rank = default_rank(training);
    const bool by_fsdp_qlora = training.framework == spec::Framework::fsdp_qlora;
    draft.assume("lora_rank", by_fsdp_qlora ? "fsdp-qlora default" : "peft default",
                 "--lora-rank " + std::to_string(training.adapter.rank));
  }
  if (training.adapter.targets.empty()) {
    training.adapter.targets = {"all-linear"};
    draft.assume("lora_targets", "default", "--lora-targets all-linear");
  }
}

/// Megatron-LM cuts experts as it cuts the rest where nobody says (training/arguments.py,
/// --expert-tensor-parallel-size; core/parallel_state.py, initialize_model_parallel: None is the tensor-parallel size),
/// and so does NeMo, which passes None on; Megatron-Bridge's recipes say 1.
void complete_expert_cut(Draft& draft) {
  spec::Layout& layout = draft.layout();
  const bool follows = states_of(draft.training()) == frameworks::States::megatron && draft.shape().moe.experts > 0;
  const bool recipe = draft.training().framework_version.starts_with("Megatron-Bridge");
  if (!follows || recipe || draft.given("etp") || layout.tp == 1) return;
  layout.etp = layout.tp;
  draft.derive("etp", "tp");
}

}  // namespace

void complete_sequence(Draft& draft) {
  auto& shape = draft.shape();
  auto& training = draft.training();
  if (training.seq == 0 && training.framework == spec::Framework::litgpt && training.method == Method::inference) {
    training.seq = litgpt_generation;
    draft.assume("seq", "litgpt default", "--seq " + std::to_string(training.seq));
  }
  if (training.seq == 0) {
    const bool by_size = draft.question.stated_parameters && shape.max_position == 0;
    const auto longest = shape.max_position == 0 ? longest_default_seq : shape.max_position;
    training.seq = by_size ? assumed_seq : std::min(longest, longest_default_seq);
    draft.assume("seq", by_size ? "of an assumed shape" : "min(max_position, 4096)",
                 "--seq " + std::to_string(training.seq));
  }
  if (shape.max_position != 0) return;
  shape.max_position = training.seq;
  draft.derive("max_position", "seq");
  if (shape.position == spec::Position::learned) shape.position_rows = shape.max_position;
}

/// Megatron's command line trains with dropout 0.1 unless told otherwise (Megatron-LM training/arguments.py,
/// --hidden-dropout, --attention-dropout); the models of presets and files say what theirs were trained with.
void complete_dropout(Draft& draft) {
  constexpr double megatron_dropout = 0.1;
  const auto framework = draft.training().framework;
  const bool megatron = framework == spec::Framework::megatron || framework == spec::Framework::megatron_deepspeed;
  const auto position = draft.shape().position;
  const bool counted = position == spec::Position::learned || position == spec::Position::alibi;
  const bool gpt = counted && draft.shape().mlp == spec::Mlp::gelu;
  if (!megatron || !gpt || draft.given("dropout") || draft.given("model") || draft.given("config")) return;
  draft.shape().dropout = megatron_dropout;
  draft.assume("dropout", "Megatron default", "--dropout 0.1");
}

/// torchtune's recipes set it to 0 (pull request 1492), and before release 0.2 none reached the layers (issue 996).
void complete_adapter_dropout(Draft& draft) {
  if (draft.training().framework != spec::Framework::torchtune || draft.given("lora_dropout")) return;
  draft.training().adapter.dropout = 0.0;
  const auto method = draft.training().method;
  const bool low_rank = method == spec::Method::lora || method == spec::Method::qlora || method == spec::Method::dora;
  if (low_rank) draft.assume("lora_dropout", "torchtune default", "--lora-dropout 0");
}

void complete_layout(Draft& draft) {
  complete_expert_cut(draft);
  spec::Layout& layout = draft.layout();
  const auto replica = replica_size(layout);
  const auto per_node = stated_per_node(draft);
  const bool by_machines = !draft.given("gpus") && draft.given("nodes") && per_node;
  if (by_machines) count_machines(draft, *per_node);
  const bool counted = by_machines || draft.given("gpus");
  if (counted && draft.given("dp")) {
    if (product(replica, layout.dp) != layout.gpus) draft.contradiction("gpus", "dp", "gpus = dp x tp x pp x cp");
  } else if (counted) {
    layout.dp = exact_share(draft, layout.gpus, replica, "gpus", given_degree(draft), "gpus = dp x tp x pp x cp");
    draft.derive("dp", "gpus / (tp x pp x cp)");
  } else {
    layout.gpus = product(replica, layout.dp);
    draft.derive("gpus", "dp x tp x pp x cp");
  }
  complete_nodes(draft, per_node);
  complete_sharding(draft);
}

void complete_pipeline(Draft& draft) {
  if (!frameworks::counts_ends_as_layers({draft.shape(), draft.training(), draft.layout()})) return;
  draft.assumptions.emplace_back("embedding and loss each take a layer's place in the pipeline, as in Megatron-LM");
}

void complete_batch(Draft& draft) {
  spec::Training& training = draft.training();
  if (!draft.given("micro_batch") && !draft.given("global_batch")) {
    draft.assume("micro_batch", "default", "--micro-batch 1");
  }
  if (draft.given("global_batch")) return split_global_batch(draft);
  training.global_batch = product(training.micro_batch, training.grad_accum, draft.layout().dp);
  draft.derive("global_batch", "micro_batch x grad_accum x dp");
}

void complete_data(Draft& draft) {
  if (draft.given("tokens") || draft.given("samples")) return;
  const bool pretrains = draft.training().method == spec::Method::full;
  draft.assumptions.emplace_back(std::string("--tokens 20x, 20 for each parameter (Hoffmann et al. 2022)") +
                                 (pretrains ? "" : ", a rule for pre-training: say how many this run sees"));
}

void complete_kernels(Draft& draft) {
  if (draft.training().framework == spec::Framework::internevo && !draft.given("optimizer_impl")) {
    draft.training().optimizer_impl = spec::OptimizerImpl::loop;  // internlm/train/training_internlm.py, torch's AdamW
    draft.derive("optimizer_impl", "framework default");
  }
  if (states_of(draft.training()) != States::torch) return;
  if (!draft.given("attention")) {
    draft.training().attention = spec::AttentionKernel::sdpa;  // transformers, attn_implementation
    draft.derive("attention", "framework default");
  }
  if (!draft.given("optimizer_impl")) {
    draft.training().optimizer_impl = spec::OptimizerImpl::foreach;  // torch/optim, _default_to_fused_or_foreach
    draft.derive("optimizer_impl", "framework default");
  }
  if (!draft.given("recompute") && draft.training().framework == spec::Framework::torchtune) {
    // recipes/configs: enable_activation_checkpointing
    draft.training().recompute.policy = spec::RecomputePolicy::full;
    draft.assume("recompute", "torchtune default", "--recompute full");
  }
}

namespace {

/// "NeMo container 26.04" and what came behind it: releases 0.4 and later of Megatron-Bridge.
bool is_of_2026_spring(std::string_view version) {
  constexpr std::string_view container = "container ";
  constexpr std::string_view first = "26.04";
  const auto at = version.find(container);
  if (at == std::string_view::npos) return version == "Megatron-Bridge";
  return version.substr(at + container.size(), first.size()) >= first;
}

}  // namespace

/// Megatron-Bridge sends DeepSeek-V3's tokens by DeepEP or HybridEP on every machine, those of other mixtures by plain
/// all-to-alls until release 0.4 (scripts/performance/configs, moe_flex_dispatcher_backend).
void complete_dispatch(Draft& draft) {
  const std::string& version = draft.training().framework_version;
  const bool recipe = version.find("Megatron-Bridge") != std::string::npos;
  const bool sends_once = draft.shape().latent.kv_rank > 0 || is_of_2026_spring(version);
  if (!recipe || !sends_once || draft.layout().ep == 1 || draft.given("node_dispatch")) return;
  draft.layout().node_dispatch = true;
  draft.assume("node_dispatch", "Megatron-Bridge recipe", "--node-dispatch 1");
}

void complete_optimizer(Draft& draft) {
  spec::Training& training = draft.training();
  if (training.method == Method::galore && !draft.given("optimizer")) {
    training.optimizer = spec::Optimizer::galore_adamw_8bit;
    draft.derive("optimizer", "method galore");
  }
  const std::int64_t rank = default_projection_rank(training);
  if (rank == 0 || training.optimizer_rank > 0) return;
  training.optimizer_rank = rank;
  draft.assume("optimizer_rank", "default", "--optimizer-rank " + std::to_string(rank));
}

void complete_method(Draft& draft) {
  spec::Training& training = draft.training();
  if (!spec::has_backward_pass(training.method) && !draft.given("optimizer")) {
    training.optimizer = spec::Optimizer::none;
    draft.derive("optimizer", "nothing is trained");
  }
  if (spec::has_low_rank(training.method)) return complete_low_rank(draft);
  auto& adapter = training.adapter;
  if (has_virtual_tokens(training.method) && adapter.virtual_tokens == 0) {
    adapter.virtual_tokens = virtual_tokens;
    draft.assume("virtual_tokens", "peft default", "--virtual-tokens " + std::to_string(virtual_tokens));
  }
  if (has_bottleneck(training) && adapter.width == 0) {
    adapter.width = adapter_width;
    draft.assume("adapter_width", "default", "--adapter-width " + std::to_string(adapter_width));
  }
}

}  // namespace llmcalc::read
