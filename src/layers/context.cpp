#include "layers/context.hpp"

#include "quantity/lists.hpp"
#include "spec/traits.hpp"

namespace llmcalc::layers {

namespace {

/// Activations are as wide as the matrix products, except that 8- and 4-bit products still hand on 16-bit results.
std::int64_t activation_width(formats::Dtype compute) {
  return compute == formats::Dtype::fp32 || compute == formats::Dtype::tf32 ? 4 : 2;
}

/// Activations between quantized matrices are as wide as the norms and tables beside them, unless autocast narrows them
/// (transformers modeling_llama.py, LlamaRMSNorm.forward: the weight's type decides).
std::int64_t flowing_width(const spec::Precision& precision) {
  const bool wide = formats::is_quantized(precision.weights) && precision.unquantized == formats::Dtype::fp32;
  return activation_width(wide && !precision.autocast ? formats::Dtype::fp32 : precision.compute);
}

/// NF4 with its scales quantized again where the framework knows no other.
formats::Dtype resting_matrices(const spec::Question& question, const frameworks::Profile& profile) {
  const formats::Dtype weights = question.training.precision.weights;
  return weights == formats::Dtype::nf4 && profile.quantized.scales ? formats::Dtype::nf4_dq : weights;
}

formats::Dtype resting_experts(const spec::Precision& precision, formats::Dtype matrices) {
  return matrices == formats::Dtype::fp32 ? precision.experts.value_or(matrices) : matrices;
}

/// Norms, tables, router and head rest in 16 bit beside quantized or narrow matrices (bitsandbytes and GPTQ leave them
/// alone). Of a model that is known by its size alone nothing stands beside anything: all its parameters rest alike.
formats::Dtype resting_beside(const spec::Question& question) {
  const spec::Precision& precision = question.training.precision;
  if (question.stated_parameters) return precision.weights;
  if (formats::is_narrow_float(precision.weights)) return formats::Dtype::bf16;
  if (!formats::is_quantized(precision.weights)) return precision.weights;
  return precision.unquantized.value_or(precision.compute);
}

/// Weights that are gathered for each layer arrive in the narrow type, so nothing is cast at its use (FSDP's
/// MixedPrecision policy), and flax hands on what it has made in the type of its products.
bool casts_at_each_use(const spec::Question& question, const frameworks::Profile& profile) {
  return question.training.precision.autocast && spec::zero_stage(question.layout.sharding) < 3 &&
         !profile.kernels.hand_on_narrow;
}

/// Each batch is filled up to its longest sample (transformers data/data_collator.py).
bool pads_samples(const spec::Question& question) {
  const spec::DataBudget& data = question.pricing.data;
  const bool shorter = data.sample_tokens && *data.sample_tokens < static_cast<double>(question.training.seq);
  return shorter && !data.packing && question.training.sequences() > 1;
}

spec::RoleSet adapted_modules(const spec::Adapter& adapter, std::int64_t rank) {
  return rank > 0 ? spec::roles_of(adapter.targets) & ~spec::roles_of(adapter.excluded) : spec::RoleSet{};
}

bool updates_base_weights(spec::Method method) {
  return method == spec::Method::full || method == spec::Method::galore;
}

}  // namespace

Context::Context(const spec::Question& question, const frameworks::Profile& chosen)
    : model(question.model),
      training(question.training),
      profile(chosen),
      batch(question.training.sequences()),
      prompt(question.training.method == spec::Method::prompt ? question.training.adapter.virtual_tokens : 0),
      prefix(question.training.method == spec::Method::prefix ? question.training.adapter.virtual_tokens : 0),
      seq(question.training.seq / question.layout.cp + prompt),
      attended(question.training.seq + prompt + prefix + question.training.cached),
      pads(pads_samples(question)),
      tokens(quantity::product(batch, seq)),
      width(flowing_width(question.training.precision)),
      product_width(activation_width(question.training.precision.compute)),
      lacks_flash(width == 4 || !spec::can(question.gpu, spec::Ability::flash_attention)),
      tp(question.layout.tp),
      sp(question.layout.sp ? question.layout.tp : 1),
      cp(question.layout.cp),
      spreads_heads(cp > 1 && question.layout.cp_exchange == spec::ContextExchange::all_to_all),
      ep(question.layout.ep),
      node_dispatch(question.layout.node_dispatch),
      etp(question.layout.etp),
      stages(question.layout.pp),
      shares_table(spec::shares_table(question.model.shape) && stages == 1 && !chosen.head.untied),
      autocast(casts_at_each_use(question, chosen)),
      differentiates(spec::has_backward_pass(question.training.method)),
      selects_operations(chosen.kernels.saves_products &&
                         question.training.recompute.policy == spec::RecomputePolicy::selective),
      trains_base(updates_base_weights(question.training.method)),
      matrix_type(resting_matrices(question, chosen)),
      expert_type(resting_experts(question.training.precision, matrix_type)),
      other_type(resting_beside(question)),
      narrow_products(formats::is_narrow_float(question.training.precision.compute)),
      dequantizes(formats::is_quantized(matrix_type)),
      adapter_rank(spec::has_low_rank(question.training.method) ? question.training.adapter.rank : 0),
      adapter_type(question.training.precision.grads),
      adapted(adapted_modules(training.adapter, adapter_rank)),
      converted(adapter_rank > 0 ? spec::roles_of(training.adapter.targets) : spec::RoleSet{}),
      adapted_parameters(adapter_rank > 0 ? spec::roles_of(training.adapter.parameters) : spec::RoleSet{}),
      saved(adapter_rank > 0 ? spec::roles_of(training.adapter.saved) : spec::RoleSet{}) {}

bool Context::keeps(spec::KeptResult result) const {
  return training.recompute.policy == spec::RecomputePolicy::full &&
         quantity::contains(training.recompute.kept, result);
}

std::int64_t Context::rank_of(spec::Role role) const {
  for (const auto& [module, rank] : training.adapter.ranks) {
    if (spec::roles_of({module})[static_cast<std::size_t>(role)]) return rank;
  }
  return adapter_rank;
}

Context Context::without_adapters() const {
  Context bare = *this;
  bare.adapted = {};
  return bare;
}

Context Context::of_encoder() const {
  Context reading = *this;
  const std::int64_t positions = shape().encoder_positions;
  if (positions == 0) return reading;
  reading.prompt = reading.prefix = 0;
  reading.seq = quantity::ceil_divide(positions, cp);
  reading.attended = positions;
  reading.tokens = quantity::product(batch, reading.seq);
  return reading;
}

}  // namespace llmcalc::layers
