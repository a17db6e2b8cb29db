#include "frameworks/layout_rules.hpp"
#include "frameworks/profile.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/words/draft.hpp"
#include "spec/names.hpp"

#include <string>
#include <utility>

namespace llmcalc::read {

using frameworks::StateRecipe;
using spec::Algorithm;
using spec::Reference;

namespace {

/// Whether the loss of an algorithm compares with a reference. GRPO's does where its penalty is not zero.
enum class Comparison { never, optional, always };

constexpr Comparison comparison_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::sft:
    case Algorithm::orpo: return Comparison::never;
    case Algorithm::grpo: return Comparison::optional;
    case Algorithm::dpo:
    case Algorithm::kto:
    case Algorithm::ppo: return Comparison::always;
  }
  return Comparison::never;
}

/// trl's GRPO has no penalty, and so no reference, unless it is asked for one (trl trainer/grpo_config.py, beta = 0);
/// the paper's has (Shao et al. 2024, arXiv:2402.03300 eq. 3).
bool implies_reference(const spec::Training& training) {
  const Comparison comparison = comparison_of(training.algorithm);
  if (comparison != Comparison::optional) return comparison == Comparison::always;
  return states_of(training) != StateRecipe::torch;
}

}  // namespace

void complete_algorithm(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (draft.given("reference") || !implies_reference(training)) return;
  training.reference = trains_adapters(training.method) ? Reference::base : Reference::model;
  const std::string word(spec::name_of(training.reference));
  draft.assume("reference", "algorithm " + std::string(spec::name_of(training.algorithm)), word);
}

namespace {

/// Refuses references that the algorithm has no use for, and algorithms that their reference cannot serve.
void check_algorithm(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const bool trains = spec::has_backward_pass(training.method);
  if (training.algorithm != Algorithm::sft && !trains) draft.contradiction("algorithm", "method", "nothing is trained");
  const Comparison comparison = comparison_of(training.algorithm);
  if (comparison == Comparison::never && training.reference != Reference::none) {
    draft.contradiction("reference", "algorithm", "its loss compares with no other model", "--algorithm dpo");
  }
  if (comparison == Comparison::always && training.reference == Reference::none) {
    draft.contradiction("reference", "algorithm", "its loss compares with a reference", "--algorithm orpo needs none");
  }
  if (training.reference == Reference::base && !trains_adapters(training.method)) {
    draft.contradiction("reference", "method", "only a model with adapters has a base without them", "--method lora");
  }
  if (training.reference == Reference::precomputed && training.makes_samples()) {
    draft.contradiction("reference", "algorithm", "its samples are made anew in each step", "--reference model");
  }
}

using spec::Method;

/// Kernels that go from the hidden state to the loss read the head's matrix and know nothing of an adapter beside it
/// (Liger-Kernel transformers/model/llama.py; apple/ml-cross-entropy transformers/llama.py: lm_head.weight).
void check_loss(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const bool takes_head = training.loss == spec::Loss::fused_linear || training.loss == spec::Loss::cut;
  if (!takes_head || !quantity::contains(training.adapter.targets, "head")) return;
  draft.contradiction("loss", "lora_targets", "its kernel reads the head's matrix alone", "--loss chunked");
}

void check_adapter(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  constexpr std::string_view terms[] = {"lora_rank",         "lora_targets",    "exclude_modules",
                                        "target_parameters", "rank_pattern",    "layers_to_transform",
                                        "lora_bias",         "modules_to_save", "trainable_tokens"};
  for (const auto term : terms) {
    if (spec::has_low_rank(training.method) || !draft.given(term)) continue;
    draft.contradiction(term, "method", "only lora, qlora, dora and adalora have adapters of a rank");
  }
  if (draft.given("virtual_tokens") && !has_virtual_tokens(training.method)) {
    draft.contradiction("virtual_tokens", "method", "only prompt and prefix tuning learn positions");
  }
  if (draft.given("adapter_width") && !has_bottleneck(training)) {
    draft.contradiction("adapter_width", training.method == Method::adapter ? "framework" : "method",
                        "only bottleneck adapters have an inner width", "--method adapter");
  }
}

void check_weights(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const bool quantized = formats::is_quantized(training.precision.weights);
  if (training.method == Method::qlora && !quantized) {
    draft.contradiction("weights", "method", "qlora trains on quantized weights", "--method lora keeps them whole");
  }
  const bool trains_weights = training.method == Method::full || training.method == Method::galore;
  if (trains_weights && quantized) {
    draft.contradiction("weights", "method", "quantized weights cannot be trained", "--method qlora trains adapters");
  }
  const bool narrower = is_half(training.precision.weights) || formats::is_narrow_float(training.precision.weights);
  if (training.precision.master && !narrower) {
    draft.contradiction("master_weights", "weights", "only weights of 16 bits or less have a master copy");
  }
}

void check_autocast(const QuestionDraft& draft) {
  const auto& precision = draft.question.training.precision;
  if (!precision.autocast || precision.weights != precision.compute) return;
  draft.contradiction("autocast", "weights", "there is nothing to cast: products are computed in that type");
}

void check_moments(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const auto moments = quantized_moments(training.optimizer);
  if (!moments || *moments == training.precision.moments) return;
  draft.contradiction("optimizer_states", "optimizer", "its moments are " + std::string(spec::name_of(*moments)));
}

void check_optimizer(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  if (draft.given("optimizer_rank") && default_projection_rank(training) == 0) {
    draft.contradiction("optimizer_rank", "optimizer", "only galore-adamw-8bit and apollo project gradients");
  }
}

/// Megatron-LM core/transformer/transformer_config.py, __post_init__: modules that the model does not have are refused.
void check_recompute_modules(const QuestionDraft& draft) {
  using spec::RecomputeModule;
  const auto& shape = draft.question.model.shape;
  const auto& modules = draft.question.training.recompute.modules;
  if (modules.empty()) return;
  if (states_of(draft.question.training) == StateRecipe::torch) {
    draft.contradiction("recompute_modules", "framework", "only Megatron-LM has a list of modules to recompute");
  }
  for (const RecomputeModule module : modules) {
    const bool of_experts = module == RecomputeModule::moe || module == RecomputeModule::moe_act;
    if (of_experts && shape.moe.experts == 0) {
      draft.contradiction("recompute_modules", "experts", "the model has no experts");
    }
    if (module == RecomputeModule::shared_experts && shape.moe.shared_ffn == 0) {
      draft.contradiction("recompute_modules", "shared_ffn", "the model has no shared experts");
    }
    if (module == RecomputeModule::mla_up_proj && shape.latent.kv_rank == 0) {
      draft.contradiction("recompute_modules", "kv_lora_rank", "only latent attention has an up projection");
    }
  }
}

void check_recompute(const QuestionDraft& draft) {
  if (draft.given("recompute_modules") &&
      draft.question.training.recompute.policy != spec::RecomputePolicy::selective) {
    draft.contradiction("recompute_modules", "recompute", "modules belong to selective recompute");
  }
  check_recompute_modules(draft);
  const auto& recompute = draft.question.training.recompute;
  if (!recompute.kept.empty() && recompute.policy != spec::RecomputePolicy::full) {
    draft.contradiction("recompute_kept", "recompute", "what is kept is an exception from full recompute");
  }
}

void check_experts(const QuestionDraft& draft) {
  const auto& shape = draft.question.model.shape;
  for (const auto term : {"top_k", "expert_ffn"}) {
    if (draft.given(term) && shape.moe.experts == 0) draft.contradiction(term, "experts", "the model has no experts");
  }
  if (shape.moe.experts > 0 && shape.moe.top_k == 0) {
    throw quantity::BadInput("--top-k", "is missing: " + draft.said("experts") + " needs it");
  }
  if (shape.moe.experts > 0 && shape.moe.top_k > shape.moe.experts) {
    draft.contradiction("top_k", "experts", "a token cannot be routed to more experts than there are");
  }
}

void check_sequence(const QuestionDraft& draft) {
  const auto& shape = draft.question.model.shape;
  if (shape.position != spec::Position::learned || draft.question.training.seq <= shape.max_position) return;
  draft.contradiction("seq", "max_position", "a learned position table has no more rows");
}

/// A thing that the framework cannot do is refused by name, with those that can.
void check_abilities(const QuestionDraft& draft) {
  const auto framework = draft.question.training.framework;
  const auto term = frameworks::unable_to(framework, draft.question);
  if (term.empty()) return;
  const auto others = quantity::joined(frameworks::able_to(term, draft.question), ", ");
  const std::string hint = others.empty() ? "--framework textbook" : "--framework " + others + " or textbook";
  draft.contradiction(term, "framework", std::string(frameworks::row_of(framework).title) + " cannot do that", hint);
}

void check_layout(const QuestionDraft& draft) {
  const auto& question = draft.question;
  const auto* rule = frameworks::broken_rule({question.model.shape, question.training, question.layout});
  if (rule != nullptr) draft.contradiction(rule->term, rule->other, rule->why, std::string(rule->hint));
}

void check_rank(const QuestionDraft& draft) {
  const auto& question = draft.question;
  if (question.rank.kind != spec::RankChoice::Kind::stage || question.rank.stage < question.layout.pp) return;
  draft.contradiction("rank", "pp", "stages are counted from 0 to " + std::to_string(question.layout.pp - 1));
}

/// \throws quantity::BadInput where the accelerator multiplies in no type that carries this one
void check_products(const QuestionDraft& draft) {
  const auto& question = draft.question;
  if (question.gpu) spec::matrix_peak(*question.gpu, question.training.precision.compute);
}

void check_offload(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  if (draft.given("offload_layers") && training.offload != spec::Offload::activations) {
    draft.contradiction("offload_layers", "offload", "only activations leave layer by layer", "--offload activations");
  }
  if (training.offload_layers && *training.offload_layers > draft.question.model.shape.layers) {
    draft.contradiction("offload_layers", "layers", "the model has no more layers");
  }
}

/// torchao float8/config.py, Float8LinearRecipeName: of 8-bit products alone, MX and NVFP4 have blocks.
void check_row_scaling(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  if (training.precision.compute != formats::Dtype::fp8_e4m3) {
    draft.contradiction("fp8_scaling", "compute", "only products in fp8 have scales by row", "--compute fp8");
  }
  if (!frameworks::make_profile(training, draft.question.gpu).narrow.scales_rows) {
    draft.contradiction("fp8_scaling", "framework", "only torchao scales by row", "--framework torchtitan");
  }
}

/// TransformerEngine pytorch/attention/dot_product_attention/utils.py, get_attention_backend: FP8 attention needs
/// Hopper or newer.
void check_narrow_parts(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const bool narrow = formats::is_narrow_float(training.precision.compute);
  for (const auto& [term, on] : {std::pair("fp8_attention", training.fp8_attention), {"fp8_head", training.fp8_head}}) {
    if (on && !narrow) draft.contradiction(term, "compute", "products are in 16 bits or more", "--compute fp8");
  }
  if (training.fp8_scaling == spec::Fp8Scaling::row) check_row_scaling(draft);
  if (training.fp8_attention && !spec::can(draft.question.gpu, spec::Ability::narrow_attention)) {
    draft.contradiction("fp8_attention", "gpu", "no attention kernel in 8 bits before Hopper");
  }
}

void check_unquantized(const QuestionDraft& draft) {
  if (!draft.given("unquantized") || formats::is_quantized(draft.question.training.precision.weights)) return;
  draft.contradiction("unquantized", "weights", "nothing is quantized beside it", "--method qlora");
}

void check_documents(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  if (training.document_length <= training.seq) return;
  draft.contradiction("document_length", "seq", "documents are packed into sequences");
}

void check_softmax(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  if (frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::megatron_core) return;
  if (!training.softmax_fusion)
    draft.contradiction("softmax_fusion", "framework", "only what runs on Megatron-Core has the choice");
}

void check_data(const QuestionDraft& draft) {
  for (const auto& [one, other] : {std::pair("samples", "tokens"), {"steps", "tokens"}, {"steps", "samples"}}) {
    if (draft.given(one) && draft.given(other)) draft.contradiction(one, other, "both say how much data there is");
  }
  if (draft.given("samples")) return;
  const auto& data = draft.question.pricing.data;
  for (const auto& [term, is_said] : {std::pair("epochs", data.epochs != 1.0),
                                      {"sample_tokens", data.sample_tokens.has_value()},
                                      {"packing", data.packing}}) {
    if (is_said) draft.contradiction(term, "samples", "it is about samples, whose number is not said", "--samples 50k");
  }
}

}  // namespace

void check_combinations(const QuestionDraft& draft) {
  check_abilities(draft);
  check_adapter(draft);
  check_loss(draft);
  check_weights(draft);
  check_autocast(draft);
  check_moments(draft);
  check_optimizer(draft);
  check_recompute(draft);
  check_algorithm(draft);
  check_experts(draft);
  check_sequence(draft);
  check_data(draft);
  check_offload(draft);
  check_narrow_parts(draft);
  check_documents(draft);
  check_unquantized(draft);
  check_softmax(draft);
  check_layout(draft);
  check_rank(draft);
  check_products(draft);
}

}  // namespace llmcalc::read
