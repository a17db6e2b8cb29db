// Matrices that adapters reach, by the rules of peft, and the weights that they have there.
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::layers {

using quantity::product;

namespace {

/// Roles whose modules are called as those of experts are.
bool shares_experts_words(Role role) {
  constexpr std::array roles{Role::gate, Role::gate_up, Role::up, Role::down, Role::attention_gate};
  return std::ranges::find(roles, role) != roles.end();
}

}  // namespace

bool BlockBuilder::is_plain_parameter(const Matrix& matrix) const {
  return matrix.experts > 1 || (matrix.role == Role::router && !context_.shape().writing.linear_router);
}

/// Since transformers 5 experts are parameters and most routers modules of their own, which are no linear layers. For
/// families that it knows peft takes their words, and those of shared experts and dense layers with them, for the
/// parameters instead (peft utils/transformers_weight_conversion.py, _convert_peft_config_moe).
bool BlockBuilder::is_reached_by_peft(const Matrix& matrix) const {
  const auto& profile = context_.profile;
  if (!profile.kernels.transformers_modules || profile.experts.run_in_loop) return true;
  if (context_.shape().moe.experts == 0) return true;
  const bool is_parameter = is_plain_parameter(matrix);
  if (!context_.shape().writing.merges_expert_adapters) return !is_parameter;
  return is_parameter || !shares_experts_words(matrix.role);
}

bool BlockBuilder::is_named_parameter(const Matrix& matrix) const {
  return context_.adapted_parameters[static_cast<std::size_t>(matrix.role)] && is_plain_parameter(matrix);
}

bool BlockBuilder::is_converted(const Matrix& matrix) const {
  const bool converts =
      context_.writes(&spec::Writing::merges_expert_adapters) && !context_.profile.experts.run_in_loop;
  return converts && is_plain_parameter(matrix);
}

bool BlockBuilder::merges_adapter(const Matrix& matrix) const {
  return is_named_parameter(matrix) || (is_converted(matrix) && is_adapted(matrix));
}

/// The copy is kept for the input's gradient, and 16-bit copies of the adapter for its own: their product is as large
/// as the weight, backward two of them; forward that of experts is made once more where PyTorch looks whether it fits
/// (torch/nn/utils/parametrize.py, register_parametrization). Gate and up projection in one share an adapter of twice
/// the rank (peft tuners/lora/layer.py, ParamWrapper.get_delta_weight and _activate_lora).
void BlockBuilder::merge_adapter(Op& op, const Matrix& matrix, const Weight& w) {
  const std::int64_t shared = matrix.role == Role::gate_up && !is_named_parameter(matrix) ? 2 : 1;
  const std::int64_t rank = context_.rank_of(matrix.role) * shared;
  const Copies experts{matrix.experts, matrix.active_experts};
  adapter_weight("adapter A", matrix.rows, rank, experts);
  adapter_weight("adapter B", rank, matrix.columns, experts);
  const std::int64_t held = matrix.experts > 1 ? matrix.experts / context_.ep : 1;
  const Value merged = value("weight with adapter", w.elements / w.columns, w.columns, context_.width, false);
  const Value factors =
      value("adapter (16 bit)", quantity::product(held, rank), w.rows + w.columns, context_.width, false);
  Op merge{.kind = OpKind::linear, .name = "weight with adapter", .outputs = {merged.id, factors.id}};
  merge.saved.push_back(factors.id);
  merge.workspace_forward = size(merged.id);  // the product, before it is scaled
  const auto once = quantity::flops(2.0 * static_cast<double>(w.elements) * static_cast<double>(rank));
  merge.forward = matrix.experts > 1 ? 2.0 * once : once;
  merge.backward_weight = 2.0 * once;
  append(merge);
  op.saved.push_back(merged.id);
  op.workspace_backward += size(merged.id);  // its gradient
}

/// "all-linear" is every matrix of the layers, routers and each expert's too, not the head (peft
/// tuners/tuners_utils.py, _maybe_include_all_linear_layers). Converted parameters are left out neither by name nor by
/// layer.
bool BlockBuilder::is_adapted(const Matrix& matrix) const {
  if (is_named_parameter(matrix)) return true;
  const auto& words = is_converted(matrix) ? context_.converted : context_.adapted;
  return words[static_cast<std::size_t>(matrix.role)] && is_reached_by_peft(matrix);
}

/// peft replaces a module, of which others take the frozen weight past it (tuners/tuners_utils.py,
/// BaseTunerLayer.weight; transformers modeling_bamba.py, BambaMixer.forward, outproj_weight).
void BlockBuilder::idle_adapter(const Matrix& matrix) {
  adapter_weight("adapter A", matrix.rows, context_.rank_of(matrix.role));
  adapter_weight("adapter B", context_.rank_of(matrix.role), matrix.columns);
  adapter_bias(matrix.columns, matrix.columns);
}

/// peft tuners/lora/layer.py, LoraLayer.update_layer: bias=lora_bias of lora_B.
void BlockBuilder::adapter_bias(std::int64_t columns, std::int64_t of_all_ranks) {
  if (!context_.training.adapter.bias) return;
  adapter_weight("adapter bias", 1, columns);
  share_with_ranks(of_all_ranks, {});
}

/// Beside a matrix that tensor-parallel ranks cut, the side of the adapter that meets the cut one is cut as well.
void BlockBuilder::share_with_ranks(std::int64_t of_all_ranks, const Copies& copies) {
  Weight& w = block_.weights.back();
  const std::int64_t whole = product(of_all_ranks, copies.all);
  if (w.whole != whole && w.split != Split::expert) w.split = Split::tensor;
  w.whole = whole;
  w.active = product(of_all_ranks, copies.active);
}

WeightId BlockBuilder::adapter_weight(std::string_view name, std::int64_t rows, std::int64_t columns,
                                      const Copies& copies) {
  Weight w;
  w.name = name;
  w.whole = quantity::product(rows, columns, copies.all);
  w.active = quantity::product(rows, columns, copies.active);
  w.elements = w.whole;
  if (copies.all > 1) {
    w.elements /= context_.ep;
    w.split = Split::expert;
    w.stacked = context_.profile.experts.one_parameter;
  }
  w.rows = rows;
  w.columns = columns;
  w.dtype = context_.adapter_type;
  w.adapter = w.trainable = true;
  return weight(w);
}

}  // namespace llmcalc::layers
