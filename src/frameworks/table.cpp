#include "frameworks/table.hpp"

#include "frameworks/inner/profiles.hpp"
#include "frameworks/release.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

namespace llmcalc::frameworks {

// The names that members of a framework's file (presets/frameworks) take their values from, sets that several share,
// and the conditions under which a default holds.
namespace values {

namespace framework {
using enum spec::Framework;
}
namespace states {
using enum StateRecipe;
}
namespace engine {
using enum TrainingEngine;
}
namespace half {
using enum HalfPrecision;
}
namespace memory_runs {
using enum MemoryRuns;
}
namespace profile {}
namespace splits_models {}
namespace offloads_inputs_alone {}
namespace splits_by_accelerate {}
namespace quantizes_on_one {}
namespace otherwise {}

namespace methods {
using enum spec::Method;
/// Any program can run its model forward.
inline constexpr Set<spec::Method> pretraining{full, inference, forward_only};
inline constexpr Set<spec::Method> low_rank{lora, dora};
inline constexpr Set<spec::Method> all{pretraining, low_rank, qlora, adalora, ia3, prompt, prefix, adapter, galore};
}  // namespace methods

namespace algorithms {
using enum spec::Algorithm;
inline constexpr Set<spec::Algorithm> all{sft, dpo, orpo, kto, ppo, grpo};
}  // namespace algorithms

namespace shardings {
using enum spec::Sharding;
inline constexpr Set<spec::Sharding> replicas{none, ddp};
inline constexpr Set<spec::Sharding> zero{zero1, zero2, zero3};
inline constexpr Set<spec::Sharding> fsdp{fsdp1, fsdp2, hsdp};
inline constexpr Set<spec::Sharding> all{replicas, zero, fsdp};
}  // namespace shardings

namespace splits {
using enum Parallelism;
inline constexpr Set<Parallelism> all{tensor, sequence, pipeline, virtual_stages, context, experts, expert_tensor};
}  // namespace splits

namespace exchanges {
using enum spec::ContextExchange;
}
namespace schedules {
using enum spec::Schedule;
}

namespace offloads {
using enum spec::Offload;
inline constexpr Set<spec::Offload> states{none, optimizer, optimizer_gradients};
inline constexpr Set<spec::Offload> weights{none, params};
inline constexpr Set<spec::Offload> all{states, weights, activations, params_optimizer};
}  // namespace offloads

namespace recomputes {
using enum spec::RecomputePolicy;
inline constexpr Set<spec::RecomputePolicy> all{none, selective, full};
}  // namespace recomputes

namespace modules {
using enum spec::RecomputeModule;
}

namespace optimizers {
using enum spec::Optimizer;
/// torch.optim (Muon since torch 2.9). Nothing is updated where nothing is trained.
inline constexpr Set<spec::Optimizer> of_torch{adamw, none, sgd, sgd_momentum, adagrad, adafactor, muon};
inline constexpr Set<spec::Optimizer> of_bitsandbytes{adamw_8bit, paged_adamw, paged_adamw_8bit, lion, lamb};
/// tr/training_args.py of transformers, OptimizerNames: no Muon, no LAMB.
inline constexpr Set<spec::Optimizer> of_trainer{adamw,
                                                 none,
                                                 sgd,
                                                 sgd_momentum,
                                                 adagrad,
                                                 adafactor,
                                                 adamw_8bit,
                                                 paged_adamw,
                                                 paged_adamw_8bit,
                                                 lion,
                                                 adamw_4bit,
                                                 galore_adamw_8bit,
                                                 apollo,
                                                 apollo_mini,
                                                 lomo,
                                                 adalomo,
                                                 adamw_8bit_torchao};
inline constexpr Set<spec::Optimizer> all{of_trainer, muon, lamb, shampoo, soap};
}  // namespace optimizers

namespace quantized {
using enum formats::Dtype;
inline constexpr Set<formats::Dtype> bitsandbytes{nf4, nf4_dq, fp4, fp4_dq, int8};
inline constexpr Set<formats::Dtype> all{bitsandbytes, int4_gptq, int8_gptq, int4, mxfp4};
}  // namespace quantized

namespace narrow {
using enum formats::Dtype;
inline constexpr Set<formats::Dtype> fp8{fp8_e4m3, fp8_e5m2};
inline constexpr Set<formats::Dtype> all{fp8, mxfp8, nvfp4};
}  // namespace narrow

namespace losses {
using enum spec::Loss;
inline constexpr Set<spec::Loss> of_torch{standard, compiled};
/// Liger-Kernel, Cut Cross-Entropy and the like take the place of transformers' loss.
inline constexpr Set<spec::Loss> of_kernels{of_torch, chunked, fused, fused_linear, cut};
inline constexpr Set<spec::Loss> parallel{standard, vocab_parallel, vocab_parallel_fused, te_fused};
inline constexpr Set<spec::Loss> all{of_kernels, parallel};
}  // namespace losses

}  // namespace values

using Condition = bool (*)(const spec::Question& question);

inline constexpr Condition is_full = [](const spec::Question& q) { return q.training.method == spec::Method::full; };
inline constexpr Condition is_qlora = [](const spec::Question& q) { return spec::rests_quantized(q.training); };
inline constexpr Condition is_low_rank = [](const spec::Question& q) { return spec::has_low_rank(q.training.method); };
inline constexpr Condition is_trained = [](const spec::Question& q) {
  return spec::has_backward_pass(q.training.method);
};
/// Prefixes are past keys and values, which checkpoints do not pass on.
inline constexpr Condition can_recompute = [](const spec::Question& q) {
  return is_trained(q) && q.training.method != spec::Method::prefix;
};
inline constexpr Condition recomputes_layers = [](const spec::Question& q) {
  return q.training.recompute.policy == spec::RecomputePolicy::full;
};
inline constexpr Condition is_generated = [](const spec::Question& q) {
  return q.training.method == spec::Method::inference;
};
inline constexpr Condition without_bf16 = [](const spec::Question& q) { return q.gpu && !q.gpu->peaks.bf16; };
inline constexpr Condition on_one = [](const spec::Question& q) { return q.layout.gpus == 1; };
inline constexpr Condition on_several = [](const spec::Question& q) { return q.layout.dp > 1; };
inline constexpr Condition on_several_or_contexts = [](const spec::Question& q) {
  return on_several(q) || q.layout.cp > 1;
};
inline constexpr Condition full_on_one = [](const spec::Question& q) { return is_full(q) && on_one(q); };
inline constexpr Condition full_on_several = [](const spec::Question& q) { return is_full(q) && on_several(q); };
inline constexpr Condition low_rank_on_one = [](const spec::Question& q) { return is_low_rank(q) && on_one(q); };
inline constexpr Condition low_rank_on_several = [](const spec::Question& q) {
  return is_low_rank(q) && q.layout.gpus > 1;
};
inline constexpr Condition full_under_fsdp = [](const spec::Question& q) {
  return is_full(q) && spec::is_fsdp(q.layout.sharding);
};
inline constexpr Condition full_under_fsdp1 = [](const spec::Question& q) {
  return full_under_fsdp(q) && q.layout.sharding != spec::Sharding::fsdp2;
};
inline constexpr Condition cuts_tensors = [](const spec::Question& q) { return q.layout.tp > 1; };
inline constexpr Condition has_stages = [](const spec::Question& q) {
  return q.layout.pp > 1 && spec::is_fsdp(q.layout.sharding);
};

/// DeepSeek-V3's recipes send tokens by DeepEP or HybridEP, those of other mixtures by plain all-to-alls until release
/// 0.4 (Megatron-Bridge scripts/performance/configs, moe_flex_dispatcher_backend).
inline constexpr Condition sends_by_node = [](const spec::Question& q) {
  const bool sends_once =
      q.model.shape.latent.kv_rank > 0 || holds(Behaviour::bridge_flexible_dispatch, q.training.software);
  return sends_once && q.layout.ep > 1;
};

/// A shape in the way of GPT-2.
inline constexpr Condition is_gpt = [](const spec::Question& q) {
  const auto& shape = q.model.shape;
  const bool counted = shape.position == spec::Position::learned || shape.position == spec::Position::alibi;
  return counted && shape.mlp == spec::Mlp::gelu;
};
/// peft knows the projections of attention with a matrix a head group.
inline constexpr Condition has_plain_heads = [](const spec::Question& q) { return q.model.shape.latent.kv_rank == 0; };
inline constexpr Condition under_fsdp = [](const spec::Question& q) { return spec::is_fsdp(q.layout.sharding); };
inline constexpr Condition on_replicas = [](const spec::Question& q) { return is_trained(q) && !under_fsdp(q); };
inline constexpr Condition accumulates = [](const spec::Question& q) { return spec::accumulates(q.training); };
/// SFT's loss in chunks came first; ORPO's trainer has its logits whole.
inline constexpr Condition has_trl_head = [](const spec::Question& q) {
  const auto algorithm = q.training.algorithm;
  const bool in_chunks = algorithm == spec::Algorithm::sft && holds(Behaviour::trl_chunked_loss, q.training.software);
  return algorithm != spec::Algorithm::orpo && (in_chunks || holds(Behaviour::trl_tiled_head, q.training.software));
};
inline constexpr Condition before_transformers_5 = [](const spec::Question& q) {
  return !holds(Behaviour::checkpoint_dtype, q.training.software);
};
inline constexpr Condition takes_torchtune_recipes = [](const spec::Question& q) {
  return holds(Behaviour::torchtune_recipes, q.training.software);
};
inline constexpr Condition takes_titan_models = [](const spec::Question& q) {
  return holds(Behaviour::torchtitan_chunked_loss, q.training.software);
};
inline constexpr Condition has_internevo_loop = [](const spec::Question& q) {
  return !holds(Behaviour::internevo_fused_adamw, q.training.software);
};
inline constexpr Condition paged_full_on_one = [](const spec::Question& q) {
  const auto optimizer = q.training.optimizer;
  const bool paged = optimizer == spec::Optimizer::paged_adamw || optimizer == spec::Optimizer::paged_adamw_8bit;
  return full_on_one(q) && paged && q.training.grad_accum == 1;
};
inline constexpr Condition without_stages = [](const spec::Question& q) { return q.layout.pp == 1; };
inline constexpr Condition on_torch_2_8 = [](const spec::Question& q) {
  return holds(Behaviour::fused_adamw, q.training.software);
};
inline constexpr Condition under_fsdp1 = [](const spec::Question& q) {
  return q.layout.sharding == spec::Sharding::fsdp1;
};
inline constexpr Condition under_zero3 = [](const spec::Question& q) {
  return q.layout.sharding == spec::Sharding::zero3;
};
inline constexpr Condition under_zero = [](const spec::Question& q) {
  return spec::zero_stage(q.layout.sharding) > 0 && !spec::is_fsdp(q.layout.sharding);
};

namespace {

constexpr auto framework_count = static_cast<std::size_t>(spec::Framework::count);

using Table = std::array<const FrameworkRow*, framework_count>;

using spec::SaveCheckpoint;

/// A framework has of another all but what that one is called, does unasked and was measured by.
constexpr FrameworkRow like(FrameworkRow other) {
  other.words = {};
  other.title = {};
  other.defaults = other.otherwise = {};
  return other;
}

#include "frameworks/sheets.inc"

constexpr Table assemble() {
  Table table{};
  for (const FrameworkRow& row : sheets) table[static_cast<std::size_t>(row.framework)] = &row;
  return table;
}

constexpr Table table = assemble();

/// Looks at the rows and not for null pointers, which GCC 12 does not compare at compile time under -fsanitize.
constexpr bool has_every_framework() {
  std::array<bool, framework_count> seen{};
  for (const FrameworkRow& row : sheets) seen[static_cast<std::size_t>(row.framework)] = row.words.size() > 0;
  return std::ranges::find(seen, false) == seen.end();
}
static_assert(has_every_framework(), "a framework of the enumeration has no file in presets/frameworks");

constexpr std::size_t count_words() {
  std::size_t sum = 0;
  for (const FrameworkRow* row : table) sum += row->words.size();
  return sum;
}

constexpr auto list_words() {
  std::array<spec::Named<spec::Framework>, count_words()> all{};
  std::size_t next = 0;
  for (const FrameworkRow* row : table) {
    for (const std::string_view word : row->words) all[next++] = {row->framework, word};
  }
  return all;
}

constexpr auto words = list_words();

}  // namespace

const FrameworkRow& row_of(spec::Framework framework) { return *table[static_cast<std::size_t>(framework)]; }

bool pretrains(const spec::Question& question) {
  const auto& training = question.training;
  const bool makes_all = training.method == spec::Method::full && training.algorithm == spec::Algorithm::sft;
  return makes_all && (question.stated_parameters || !row_of(training.framework).tunes_checkpoints);
}

/// Elsewhere it does not depend on the sharding: DeepSpeed itself widened them without sharding until 0.17, and takes
/// the model's type since (runtime/engine.py, get_data_types, of 0.19.6).
formats::Dtype gradients_of(const spec::Training& training, spec::Sharding sharding) {
  const spec::Precision& precision = training.precision;
  const bool widens = row_of(training.framework).widens_gradients && precision.master;
  if (!widens || precision.weights != formats::Dtype::bf16) return precision.grads;
  return spec::zero_stage(sharding) <= 1 ? formats::Dtype::fp32 : formats::Dtype::bf16;
}

/// accelerate/utils/dataclasses.py, DeepSpeedPlugin; transformers/integrations/deepspeed.py.
bool hands_to_deepspeed(const spec::Training& training, spec::Sharding sharding) {
  const bool is_zero = spec::zero_stage(sharding) > 0 && !spec::is_fsdp(sharding);
  return is_zero && row_of(training.framework).engine == TrainingEngine::trainer;
}

/// Its engine casts the whole module and leaves autocast off (runtime/engine.py, _configure_distributed_model); what is
/// trained has fp32 masters and moments whatever the trainer would have had (runtime/zero/stage_1_and_2.py,
/// single_partition_of_fp32_groups; stage3.py, _create_fp32_partitions).
spec::Precision precision_under(const spec::Training& training, spec::Sharding sharding) {
  using formats::Dtype;
  spec::Precision precision = training.precision;
  const bool is_half = precision.compute == Dtype::bf16 || precision.compute == Dtype::fp16;
  const bool rests_wider = precision.weights == Dtype::fp32 && !precision.autocast;
  if (!hands_to_deepspeed(training, sharding) || !is_half || rests_wider) return precision;
  if (precision.autocast) precision.weights = precision.compute;
  precision.autocast = false;
  if (training.method != spec::Method::full) return precision;
  precision.grads = precision.compute;
  precision.master = true;
  if (formats::facts(precision.moments).bits == 16) precision.moments = Dtype::fp32;
  return precision;
}

std::span<const FrameworkRow* const> rows() { return table; }

const Default* default_of(const spec::Question& question, std::string_view term) {
  const auto is_it = [&](const Default& row) {
    return row.term == term && (row.holds == nullptr || row.holds(question));
  };
  const FrameworkRow& row = row_of(question.training.framework);
  const Default* own = quantity::find_if_or_null(row.defaults, is_it);
  return own != nullptr ? own : quantity::find_if_or_null(row.otherwise, is_it);
}

}  // namespace llmcalc::frameworks

namespace llmcalc::spec {

template <>
std::span<const Named<Framework>> vocabulary<Framework>() {
  return frameworks::words;
}

}  // namespace llmcalc::spec

namespace llmcalc::frameworks {

bool widens_embedding_moments(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::trainer &&
         holds(Behaviour::wide_embedding_moments, training.software);
}

bool keeps_random_projector(const spec::Training& training) {
  return row_of(training.framework).states != StateRecipe::textbook;
}

formats::Dtype adapters_rest_in(const spec::Training& training) {
  const spec::Precision& precision = training.precision;
  const bool is_known = formats::is_quantized(precision.weights);
  const bool by_bitsandbytes =
      is_known ? values::quantized::bitsandbytes.has(precision.weights) : spec::rests_quantized(training);
  if (by_bitsandbytes && row_of(training.framework).narrows_adapters) return formats::Dtype::bf16;
  return row_of(training.framework).adapters_rest_as_model && !precision.autocast ? precision.compute
                                                                                  : formats::Dtype::fp32;
}

}  // namespace llmcalc::frameworks
