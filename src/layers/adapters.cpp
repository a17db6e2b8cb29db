// Low-rank adapters beside frozen matrices, and what other methods train there.
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

/// A trained product of `rows x columns` that keeps its input, and multiplies in its type: autocast alone narrows it.
/// Both gradients read that of the result. Thin as it is, memory mostly bounds it.
Value BlockBuilder::adapter_product(const Value& x, std::string_view name, std::int64_t columns, const Copies& copies) {
  const Value y = value(name, x.rows, columns, context_.autocast ? context_.width : x.width, true);
  Op op{.kind = OpKind::linear, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}};
  op.weight = adapter_weight(name, x.columns, columns, copies);
  op.forward = quantity::flops(2.0 * static_cast<double>(x.rows) * static_cast<double>(x.columns) *
                               static_cast<double>(columns));
  op.backward_weight = op.forward;
  if (x.needs_gradient) op.backward_input = op.forward;
  op.wide = y.width == fp32_width;
  append_product(op);
  return y;
}

/// The library's kernels, whatever runs beside them.
void BlockBuilder::append_product(const Op& op) {
  Op& appended = append(op);
  appended.eager = false;
  const auto gradient = block_.tensors[op.outputs[0]].gradient;
  if (op.backward_input > quantity::flops(0) && op.backward_weight > quantity::flops(0)) {
    appended.moved_backward += gradient;
  }
}

Value BlockBuilder::adapter_input(const Value& x) {
  const bool widens = context_.profile.adapters.widens_input && context_.adapter_type == formats::Dtype::fp32;
  return widens ? cast(x, fp32_width, "adapter input (fp32)") : x;
}

/// Where the trainer's autocast narrows what peft has widened, only time sees the casts there and back, and that
/// dropout ran in fp32 between them (peft tuners/lora/layer.py, Linear.forward; pytorch aten/src/ATen/autocast_mode.h).
void BlockBuilder::pass_through_fp32(const Value& x) {
  if (!context_.profile.adapters.through_fp32 || context_.adapter_type != formats::Dtype::fp32) return;
  const std::int64_t cast = fp32_width + x.width;
  const std::int64_t dropped = context_.training.adapter.dropout > 0.0 ? 2 * (fp32_width - x.width) : 0;
  const auto moved = quantity::bytes(quantity::product(x.rows, x.columns, 2 * cast + dropped));
  pass_over("adapter input (through fp32)", moved, x.needs_gradient ? moved : quantity::bytes(0));
}

/// Input of the first adapter matrix: each adapted matrix drops elements of its own copy of the input, so that q, k
/// and v share nothing (peft tuners/lora/layer.py, Linear.forward). Fused kernels draw the mask again instead of
/// keeping it.
Value BlockBuilder::dropped_input(const Value& x) {
  const Value in = adapter_input(x);
  pass_through_fp32(in);
  if (context_.training.adapter.dropout == 0.0) return in;
  const Value dropped = like(in, "dropped adapter input");
  Op op{.kind = OpKind::dropout, .name = "adapter dropout", .inputs = {in.id}, .outputs = {dropped.id}};
  if (context_.profile.adapters.fused) {
    op.saved.push_back(x.id);
  } else {
    const Value mask = value("adapter dropout mask", in.rows, in.columns, 1, false);
    op.outputs.push_back(mask.id);
    op.saved.push_back(mask.id);
  }
  append(op);
  return dropped;
}

/// The result of the adapter times its factor, in a kernel of its own where nothing puts kernels together; those that
/// are put together beside it leave it alone, and only time sees it.
Value BlockBuilder::times_factor(const Value& x) {
  const bool eager = context_.profile.kernels.eager;
  if (context_.profile.adapters.through_fp32 && !eager) pass_over("adapter factor", 2 * size(x.id), 2 * size(x.id));
  if (!eager) return x;
  const Value y = value("scaled adapter", x.rows, x.columns, x.width, true);
  append({.kind = OpKind::elementwise, .name = "adapter factor", .inputs = {x.id}, .outputs = {y.id}});
  return y;
}

/// Added to what the frozen matrix makes, in the wider type of both, and cast back (peft tuners/lora/layer.py,
/// Linear.forward). The gradient of the narrow summand is a cast.
Value BlockBuilder::added_narrow(const Value& y, const Value& adapter) {
  const Value sum = add(y, adapter, "adapted");
  if (sum.width != y.width) block_.ops.back().moved_backward = size(sum.id) + size(y.id);
  return cast(sum, y.width, "adapted (16 bit)");
}

/// One product adds to what the frozen matrix made, forward and backward, so that no summand has storage of its own
/// (axolotl kernels/lora.py, matmul_lora: addmm_).
Value BlockBuilder::added_by_product(const Value& x, const Value& y, const Value& adapter) {
  for (Op& op : block_.ops) {
    if (op.kind == OpKind::linear && op.inputs[0] == x.id) op.adds_gradient = true;
  }
  for (const TensorId id : {y.id, adapter.id}) block_.tensors[id].size = quantity::bytes(0);
  return add(y, adapter, "adapted");
}

/// y = W x + B A x (Hu et al. 2021, arXiv:2106.09685 §4.1): rank * (in + out) parameters. AdaLoRA adds a singular value
/// a rank (Zhang et al. 2023, arXiv:2303.10512 eq. 3: P Lambda Q; peft tuners/adalora/layer.py). Each expert has its
/// own.
Value BlockBuilder::adapted(const Value& x, const Value& y, const Matrix& matrix) {
  if (matrix.role == Role::fused_heads && context_.profile.adapters.pads_output) return adapted_projection(x, y);
  if (context_.profile.quantized.copies_outputs) pass_over("copy", 2 * size(y.id), quantity::bytes(0));
  const Copies experts{matrix.experts, matrix.active_experts};
  const Value in = dropped_input(x);
  const bool decomposed = context_.training.method == spec::Method::dora;
  const std::int64_t rank = context_.rank_of(matrix.role);
  const Value base = decomposed ? decomposed_base(in, y, experts) : y;
  if (decomposed) share_with_ranks(matrix.columns, experts);
  const Value low = adapter_product(in, "adapter A", rank, experts);
  share_with_ranks(product(matrix.rows, rank), experts);
  overwrite_input(matrix, in);
  const Value high = adapter_product(low, "adapter B", y.columns, experts);
  share_with_ranks(product(rank, matrix.columns), experts);
  adapter_bias(y.columns, matrix.columns);
  const bool scored = context_.training.method == spec::Method::adalora;
  if (scored) adapter_weight("singular values", 1, context_.adapter_rank, experts);
  if (context_.profile.adapters.add_by_product) return added_by_product(in, y, high);
  return added_narrow(y, decomposed ? with_magnitude(base, high) : times_factor(high));
}

/// Where no gradient goes through, adapters run and keep nothing, and no step ever moves them (peft reaches the
/// matrices of an indexer that runs under torch.no_grad()).
Value BlockBuilder::adapted_constant(const Value& x, const Value& y, const Matrix& matrix) {
  if (!is_adapted(matrix)) return y;
  const std::size_t first = block_.ops.size();
  const std::size_t tensors = block_.tensors.size();
  const Value sum = adapted(x, y, matrix);
  for (std::size_t i = first; i < block_.ops.size(); ++i) {
    Op& op = block_.ops[i];
    op.saved = {};
    op.backward_input = op.backward_weight = quantity::flops(0);
    op.moved_backward = quantity::bytes(0);
  }
  for (std::size_t i = tensors; i < block_.tensors.size(); ++i) block_.tensors[i].gradient = quantity::bytes(0);
  return sum;
}

/// The function that runs q, k and v, or the MLP, writes the gradient of its input over the input, which it has read by
/// then; that of the output projection does not (unsloth kernels/fast_lora.py, LoRA_QKV.backward: out = X; LoRA_W). Of
/// the adapters that read the input the last one's backward pass is the first, and stands for the function.
void BlockBuilder::overwrite_input(const Matrix& matrix, const Value& x) {
  if (!context_.profile.adapters.in_place || spec::use_of(matrix.role) == spec::Use::attention_out) return;
  Op* last = nullptr;
  for (Op& op : block_.ops) {
    const bool is_adapter = op.weight != no_weight && block_.weights[op.weight].adapter;
    if (!is_adapter || op.inputs[0] != x.id) continue;
    if (last != nullptr) last->saved = {};
    last = &op;
  }
  if (last != nullptr) last->gradient_in_place = true;
}

/// One pair of matrices for the adapted ones of q, k and v, which share the dropped input. Where one of the three has
/// none, the result is copied between columns of zeros, and the copy's source is kept (litgpt/lora.py,
/// LoRAQKVLinear.zero_pad; pytorch derivatives.yaml, index_copy).
Value BlockBuilder::adapted_projection(const Value& x, const Value& y) {
  const auto& shape = context_.shape();
  const std::int64_t kv_width = shape.kv_heads * shape.head_dim;
  const std::int64_t q = context_.adapts(Role::query) ? 1 : 0;
  const std::int64_t kv = (context_.adapts(Role::key) ? 1 : 0) + (context_.adapts(Role::value) ? 1 : 0);
  const std::int64_t columns = q * shape.heads * shape.head_dim + kv * kv_width;
  const Value low = adapter_product(dropped_input(x), "adapter A", (q + kv) * context_.adapter_rank);
  Value high = adapter_product(low, "adapter B", columns);
  Weight& b = block_.weights.back();
  b.rows = context_.adapter_rank;
  b.elements = b.whole = b.active = quantity::product(b.rows, b.columns);
  if (q + kv < 3) {
    const Value padded = value("padded adapter output", y.rows, y.columns, y.width, true);
    append(
        {.kind = OpKind::permutation, .name = "pad", .inputs = {high.id}, .outputs = {padded.id}, .saved = {high.id}});
    high = padded;
  }
  return add(y, times_factor(high), "adapted");
}

// Weights decomposed into magnitude and direction, as peft computes them (tuners/lora/dora.py,
// DoraLinearLayer.forward).

/// The norm of each row of W + B A, of which no gradient is taken (Liu et al. 2024, arXiv:2402.09353 §4.3). B A is made
/// by sending the unit matrix through the adapter, and all is as wide as the adapter's input. Alive at the sum: the
/// unit matrix, B A, the scaled B A, the sum, and W where it is widened or dequantized. Passes over W's elements beside
/// the cast: B A written, scaled, added to W, and the sum read; over the unit matrix: filled, its diagonal, and read.
void BlockBuilder::direction_norm(const Value& x, const Value& y, const Copies& experts) {
  constexpr std::int64_t passes = 1 + 2 + 3 + 1;
  constexpr std::int64_t unit_passes = 2;
  const std::int64_t unit = product(x.columns, x.columns, x.width);
  const std::int64_t matrix = product(x.columns, y.columns, x.width);
  const bool copied = x.width != y.width || context_.dequantizes;
  const std::int64_t copies = copied ? 4 : 3;
  const std::int64_t cast = x.width == y.width ? 0 : product(x.columns, y.columns, x.width + y.width);
  const std::int64_t held = experts.all > 1 ? experts.all / context_.ep : 1;
  const std::int64_t each = unit_passes * unit + passes * matrix + cast;
  pass_over("norm of direction", bytes(product(each, held)), bytes(0));
  block_.ops.back().workspace_forward = bytes(unit + copies * matrix);
  adapter_weight("adapter magnitude", 1, y.columns, experts);
}

/// Output of the frozen matrix for the adapter's input: that for its own, unless elements of that are dropped,
/// for which it is widened, kept so, and multiplied again.
Value BlockBuilder::decomposed_base(const Value& in, const Value& y, const Copies& experts) {
  direction_norm(in, y, experts);
  if (context_.training.adapter.dropout == 0.0) return y;
  const Value again = value("frozen product again", y.rows, y.columns, in.width, true);
  Op op{.kind = OpKind::linear, .name = "frozen product again", .inputs = {in.id}, .outputs = {again.id}};
  if (in.width != y.width) {
    const Value copy = value("wide copy of the matrix", in.columns, y.columns, in.width, false);
    op.outputs.push_back(copy.id);
    op.saved.push_back(copy.id);
  }
  op.forward = quantity::flops(2.0 * static_cast<double>(in.rows) * static_cast<double>(in.columns) *
                               static_cast<double>(y.columns));
  op.backward_input = op.forward;
  op.wide = in.width == fp32_width && !context_.autocast;
  if (!op.wide) op.product = {in.rows, y.columns, in.columns, 1};
  append_product(op);
  return again;
}

/// (m / norm - 1) W x + m / norm B A x times its factor. Either product is kept for the gradient of the magnitude,
/// which is written and read once more to be summed over the rows.
Value BlockBuilder::with_magnitude(const Value& base, const Value& adapter) {
  const auto by_magnitude = [&](const Value& x, std::string_view name) {
    const Value y = value(name, x.rows, x.columns, adapter.width, true);
    Op& op = append({.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}});
    op.moved_backward += 3 * size(y.id);
    return y;
  };
  const Value scaled_base = by_magnitude(base, "frozen product by magnitude");
  const Value scaled_adapter = by_magnitude(adapter, "adapter by magnitude");
  return add(scaled_base, times_factor(scaled_adapter), "decomposed");
}

using spec::Method;

namespace {

/// Appends `positions` learned rows a sample; autograd keeps nothing of a concatenation.
Value behind_learned(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t positions) {
  const std::int64_t rows = x.rows + product(b.context().batch, positions);
  const Value y = b.value(name, rows, x.columns, x.width, true);
  Op op{.kind = OpKind::permutation, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  op.weight = b.adapter_weight(name, positions, x.columns);
  b.append(op);
  return y;
}

}  // namespace

/// The vector's gradient needs what it multiplies (peft tuners/ia3/layer.py, Linear.forward).
Value rescaled(BlockBuilder& b, const Value& x, std::string_view name, std::int64_t experts) {
  if (b.context().training.method != Method::ia3) return x;
  const Value y = b.value(name, x.rows, x.columns, x.width, true);
  Op op{.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}};
  op.weight = b.adapter_weight(name, experts, x.columns);
  b.append(op);
  return y;
}

/// peft tuners/prefix_tuning/model.py, PrefixEncoder without projection: 2 x layers x width of the keys a position.
Value behind_prefix(BlockBuilder& b, const Value& x, std::string_view name) {
  return b.context().prefix == 0 ? x : behind_learned(b, x, name, b.context().prefix);
}

Value behind_prompt(BlockBuilder& b, const Value& x) {
  return b.context().prompt == 0 ? x : behind_learned(b, x, "learned prompt", b.context().prompt);
}

/// 2hm + h + m parameters, with a residual around them. LLaMA-Adapter, which litgpt means by the word, has prompts
/// instead.
Value bottleneck(BlockBuilder& b, const Value& x) {
  const Context& c = b.context();
  if (c.training.method != Method::adapter || c.profile.adapters.prompt_layers_start > 0) return x;
  const std::int64_t width = c.training.adapter.width;
  const Value low = b.adapter_product(b.adapter_input(x), "adapter down projection", width);
  b.adapter_weight("adapter down bias", 1, width);
  const Value active = b.value("adapter activation", low.rows, width, low.width, true);
  b.append({.kind = OpKind::activation,
            .name = "adapter activation",
            .inputs = {low.id},
            .outputs = {active.id},
            .saved = {low.id}});
  const Value high = b.adapter_product(active, "adapter up projection", x.columns);
  b.adapter_weight("adapter up bias", 1, x.columns);
  return b.add(x, high, "adapted");
}

}  // namespace llmcalc::layers
