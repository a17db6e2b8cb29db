#include "llmcalc/quantity/error.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

using formats::Dtype;
using frameworks::StateRecipe;
using spec::Method;
using spec::Precision;

constexpr Precision full_precision{.weights = Dtype::fp32, .compute = Dtype::fp32, .grads = Dtype::fp32};

/// Everything in one 16-bit type. Textbook: gradients in the weights' type, moments in fp32 (12 bytes a parameter).
Precision pure(StateRecipe states, Dtype half) {
  Precision precision{.weights = half, .compute = half, .grads = half};
  if (states == StateRecipe::torch) precision.moments = half;
  precision.master = states == StateRecipe::megatron || states == StateRecipe::deepspeed;
  if (states == StateRecipe::megatron && half == Dtype::bf16) precision.grads = Dtype::fp32;
  return precision;
}

/// Mixed precision (arXiv:1710.03740). Textbook: 16-bit weights beside an fp32 master, fp32 gradients (18 bytes).
Precision mixed(StateRecipe states, Dtype half) {
  switch (states) {
    case StateRecipe::textbook: return {.weights = half, .compute = half, .grads = Dtype::fp32, .master = true};
    case StateRecipe::torch: return {.weights = Dtype::fp32, .compute = half, .grads = Dtype::fp32, .autocast = true};
    case StateRecipe::megatron:
    case StateRecipe::deepspeed: break;
  }
  return pure(states, half);
}

struct Recipe {
  std::string_view name;
  Precision (*make)(StateRecipe);
};

constexpr Recipe recipes[] = {
    {"fp32", [](StateRecipe) { return full_precision; }},
    {"bf16", [](StateRecipe states) { return pure(states, Dtype::bf16); }},
    {"fp16", [](StateRecipe states) { return pure(states, Dtype::fp16); }},
    {"mixed-bf16", [](StateRecipe states) { return mixed(states, Dtype::bf16); }},
    {"mixed-fp16", [](StateRecipe states) { return mixed(states, Dtype::fp16); }},
};

/// A recipe is also found by other names of its type, as bfloat16; one of 8-bit products is made of knobs.
const Recipe& find_recipe(const Given& word) {
  const auto* dtype = spec::find_name<Dtype>(quantity::to_lower(word.text));
  const std::string name = dtype != nullptr ? std::string(spec::name_of(dtype->value)) : quantity::to_lower(word.text);
  if (const auto* found = quantity::find_or_null(recipes, name, &Recipe::name)) return *found;
  if (dtype != nullptr && formats::is_narrow_float(dtype->value)) {
    throw quantity::BadInput(word.origin.where, quantity::quoted(word.text) + " is no recipe but a type of products",
                             "--dtype bf16 --compute " + name);
  }
  throw_unknown_word(word.text, word.origin.where, quantity::mapped(recipes, &Recipe::name));
}

/// Without --dtype, the recipe that a measured run's type of resting weights belongs to.
Precision implied(QuestionDraft& draft, StateRecipe states) {
  draft.take("weights");
  draft.take("autocast");
  const Precision said = draft.question.training.precision;
  if (said.autocast) return mixed(StateRecipe::torch, Dtype::bf16);
  if (said.weights == Dtype::fp32) return full_precision;
  if (is_half(said.weights)) return pure(states, said.weights);
  return pure(states, Dtype::bf16);  // quantized weights are multiplied in bf16
}

constexpr std::string_view knobs[] = {"weights", "unquantized",    "compute",     "autocast",
                                      "grads",   "master_weights", "master_type", "optimizer_states"};

/// A framework's word for 16 bits means autocast where its switch does.
Precision make(const Recipe& recipe, const QuestionDraft& draft) {
  using frameworks::HalfPrecision;
  const spec::Training& training = draft.question.training;
  const auto& row = frameworks::row_of(training.framework);
  const bool casts = row.half == HalfPrecision::autocast ||
                     (row.half == HalfPrecision::autocast_of_trained && training.method == Method::full);
  const Precision precision = recipe.make(row.states);
  return casts && is_half(precision.weights) ? mixed(row.states, precision.weights) : precision;
}

/// Whether the base rests in few bits, by what was said of its weights: a recipe has a type of its own in their place.
bool quantizes_base(const QuestionDraft& draft) {
  const Given* word = draft.words.find("weights");
  const auto* type = word == nullptr ? nullptr : spec::find_name<Dtype>(word->text);
  return spec::rests_quantized(draft.question.training.method, type == nullptr ? Dtype::bf16 : type->value);
}

/// Whether words for the resting weights stand against the recipe that nobody said.
bool says_otherwise(QuestionDraft& draft, const Precision& recipe) {
  if (!draft.given("weights") && !draft.given("autocast")) return false;
  const Precision before = draft.training().precision;
  draft.training().precision = recipe;
  draft.take("weights");
  draft.take("autocast");
  const Precision said = std::exchange(draft.training().precision, before);
  const bool quantizes = formats::is_quantized(said.weights) && quantizes_base(draft);
  return (!quantizes && said.weights != recipe.weights) || said.autocast != recipe.autocast;
}

Precision recipe_of(QuestionDraft& draft) {
  const StateRecipe states = states_of(draft.training());
  const std::string framework(spec::name_of(draft.training().framework));
  if (const Given* word = draft.words.find("dtype")) {
    for (const auto knob : knobs) {
      draft.set_origin(knob, {word->origin.source, word->origin.where + " " + word->text + " (" + framework + ")"});
    }
    return make(find_recipe(*word), draft);
  }
  for (const auto knob : knobs) draft.derive(knob, framework + " default");
  const auto* usual = frameworks::default_of(draft.question, "dtype");
  const std::string name(usual == nullptr ? "bf16" : usual->value);
  const Precision precision = std::ranges::find(recipes, name, &Recipe::name)->make(states);
  return says_otherwise(draft, precision) ? implied(draft, states) : precision;
}

/// The recipe of a trainer that hands ZeRO on.
void follow_deepspeed(QuestionDraft& draft) {
  if (!frameworks::hands_to_deepspeed(draft.training(), draft.layout().sharding)) return;
  draft.training().precision = frameworks::precision_under(draft.training(), draft.layout().sharding);
  for (const auto knob : knobs) draft.derive(knob, "DeepSpeed, which runs ZeRO");
}

struct PublishedRest {
  formats::Quant quant;
  Dtype rests;
};

/// Weights beside which adapters are trained as they are published.
constexpr PublishedRest trained_as_published[] = {
#include "formats/published_rests.inc"
};

/// The type of a base that is loaded as it was quantized.
std::optional<Dtype> published_rest(const QuestionDraft& draft) {
  const auto& row = frameworks::row_of(draft.question.training.framework);
  if (row.engine != frameworks::TrainingEngine::trainer || draft.given("weights") || !draft.published_quant)
    return std::nullopt;
  const auto* known = quantity::find_or_null(trained_as_published, *draft.published_quant, &PublishedRest::quant);
  return known == nullptr ? std::nullopt : std::optional(known->rests);
}

/// MXFP4 is made bf16 whatever type the rest is loaded in (transformers 5.24 integrations/mxfp4.py,
/// convert_moe_packed_tensors; executed: scripts/load-quantized).
bool makes_experts_narrow(const QuestionDraft& draft) {
  const auto& row = frameworks::row_of(draft.question.training.framework);
  return row.engine == frameworks::TrainingEngine::trainer && !draft.given("weights") &&
         draft.published_quant == formats::Quant::mxfp4;
}

/// QLoRA keeps the base in NF4 with double quantization (arXiv:2305.14314 §3), and a recipe of fp32 weights under
/// autocast leaves what is not quantized in fp32.
void quantize_base(QuestionDraft& draft) {
  Precision& precision = draft.training().precision;
  const auto published = published_rest(draft);
  if (makes_experts_narrow(draft) && precision.weights == Dtype::fp32) precision.experts = Dtype::bf16;
  if (!published && !quantizes_base(draft)) return;
  if (precision.autocast) precision.unquantized = Dtype::fp32;
  precision.weights = published.value_or(Dtype::nf4_dq);
  if (published) {
    const std::string form(spec::name_of(*draft.published_quant));
    return draft.assume("weights", "as published", {}, "base as published: " + form);
  }
  if (!take_default(draft, "weights")) draft.derive("weights", "qlora default");
}

/// The base needs no master copy.
void adapt(QuestionDraft& draft) {
  Precision& precision = draft.training().precision;
  if (!trains_adapters(draft.training().method)) return;
  quantize_base(draft);
  precision.grads = precision.moments = frameworks::adapters_rest_in(draft.training());
  precision.master = false;
  const std::string rests = "adapters rest in " + std::string(spec::name_of(precision.grads));
  for (const auto knob : {"grads", "optimizer_states"}) draft.derive(knob, rests);
}

/// The 32-bit optimizers of bitsandbytes keep fp32 moments of 16-bit weights too (optim/optimizer.py,
/// Optimizer1State.init_state), and a Trainer's Lion is one of them (transformers trainer_optimizer.py,
/// _get_bitsandbytes_optimizer).
bool keeps_wide_moments(const spec::Training& training) {
  const bool is_bitsandbytes = frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::trainer;
  return training.optimizer == spec::Optimizer::paged_adamw ||
         (training.optimizer == spec::Optimizer::lion && is_bitsandbytes);
}

void settle_moments(QuestionDraft& draft) {
  const auto optimizer = draft.training().optimizer;
  const auto quantized = quantized_moments(optimizer);
  if (!quantized && !keeps_wide_moments(draft.training())) return;
  draft.training().precision.moments = quantized.value_or(Dtype::fp32);
  draft.derive("optimizer_states", spec::name_of(optimizer));
}

/// A sharding that nobody says is none of ZeRO's.
void follow_sharding(QuestionDraft& draft) {
  const Dtype type = frameworks::gradients_of(draft.training(), draft.layout().sharding);
  if (draft.given("grads") || type == draft.training().precision.grads) return;
  draft.training().precision.grads = type;
  draft.derive("grads", "BF16_Optimizer");
}

/// Values that follow from explicit words for the knobs that were left unsaid.
void follow_weights(QuestionDraft& draft) {
  Precision& precision = draft.training().precision;
  const bool narrow = formats::is_narrow_float(precision.weights);
  const bool half = is_half(precision.weights);
  if (!half && !narrow && !draft.given("master_weights")) precision.master = false;
  if (draft.given("weights") && (half || narrow) && !draft.given("compute")) {
    precision.compute = precision.weights;
    draft.derive("compute", "weights");
  }
}

/// Megatron's optimizer reads fp32 gradients: where they accumulate in fp16 it keeps an fp32 copy (20 bytes a
/// parameter: Megatron-LM docs/user-guide/features/dist_optimizer.md); of bf16 ones it makes that copy in the step.
void copy_gradients(QuestionDraft& draft) {
  Precision& precision = draft.training().precision;
  const bool narrow = precision.grads == Dtype::fp16 && precision.master;
  precision.grad_copy = narrow && states_of(draft.training()) == StateRecipe::megatron;
}

/// Megatron's precision-aware optimizer keeps narrow moments, and of the masters only what bf16 weights lack
/// (core/optimizer/__init__.py, store_param_remainders).
void keep_remainders(QuestionDraft& draft) {
  Precision& precision = draft.training().precision;
  const bool narrow_moments = formats::facts(precision.moments).bits < 32;
  precision.master_remainder = narrow_moments && precision.master && precision.weights == Dtype::bf16 &&
                               draft.training().optimizer == spec::Optimizer::adamw &&
                               states_of(draft.training()) == StateRecipe::megatron;
}

/// Types that a recipe comes to in this framework: the word is the same for six of them.
std::string meaning_of(const spec::Training& training) {
  const Precision& precision = training.precision;
  const Method method = training.method;
  const std::string weights(spec::name_of(precision.weights));
  if (trains_adapters(method)) {
    const std::string adapters = "adapters in " + std::string(spec::name_of(precision.grads));
    return formats::is_quantized(precision.weights) ? adapters : weights + " base, " + adapters;
  }
  if (!spec::has_backward_pass(method)) return "weights in " + weights;
  if (precision.autocast)
    return weights + " weights under autocast to " + std::string(spec::name_of(precision.compute));
  if (precision.master) {
    return weights + " weights, " + std::string(spec::name_of(precision.master_type)) + " masters, " +
           std::string(spec::name_of(precision.grads)) + " gradients";
  }
  const bool keeps_none = training.optimizer == spec::Optimizer::sgd || training.optimizer == spec::Optimizer::lomo;
  const bool alike = precision.grads == precision.weights;
  if (alike && !keeps_none && precision.moments == precision.weights) {
    return "weights, gradients and moments in " + weights;
  }
  const std::string gradients(spec::name_of(precision.grads));
  const std::string both =
      alike ? "weights and gradients in " + weights : weights + " weights, gradients in " + gradients;
  return keeps_none ? both : both + ", moments in " + std::string(spec::name_of(precision.moments));
}

/// Says what the recipe means where one was taken; knobs that were said one by one mean what they say.
void say_recipe(QuestionDraft& draft) {
  const Given* word = draft.words.find("dtype");
  const bool by_knobs = word == nullptr && (draft.given("weights") || draft.given("autocast"));
  if (by_knobs) return;
  const auto* usual = frameworks::default_of(draft.question, "dtype");
  const std::string name = word != nullptr ? word->text : std::string(usual == nullptr ? "bf16" : usual->value);
  draft.assumptions.push_back({meaning_of(draft.question.training), "dtype", name});
}

}  // namespace

void take_precision(QuestionDraft& draft) {
  draft.take("weights");  // defaults ask what the base rests in
  draft.training().precision = recipe_of(draft);
  follow_deepspeed(draft);
  adapt(draft);
  settle_moments(draft);
  for (const auto knob : knobs) draft.take(knob);
  follow_weights(draft);
  follow_sharding(draft);
  copy_gradients(draft);
  keep_remainders(draft);
  say_recipe(draft);
}

}  // namespace llmcalc::read
