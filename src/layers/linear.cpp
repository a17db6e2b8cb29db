// Products with matrices: what one multiplies on this rank, what it keeps, and what stands around it.
#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::flops;
using quantity::product;

namespace {

double multiply_add_flops(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) * static_cast<double>(outputs);
}

void add_workspace(Op& op, quantity::Bytes size) {
  op.workspace_forward += size;
  op.workspace_backward += size;
  op.scratch_tensor = std::max(op.scratch_tensor, size);
}

/// Beside the gathered input, which the weight's gradient needs again, the backward pass has the input's gradient at
/// all positions until it is reduced and scattered (Megatron-LM core/tensor_parallel/layers.py,
/// LinearWithGradAccumulationAndAsyncCommunication.backward).
void gather_around(Op& op, quantity::Bytes whole, bool needs_gradient) {
  op.workspace_forward += whole;
  op.scratch_tensor = std::max(op.scratch_tensor, whole);
  if (op.backward_weight > flops(0)) op.workspace_backward += whole;
  if (needs_gradient) op.workspace_backward += whole;
}

}  // namespace

/// A matrix's product with its input on this rank.
struct BlockBuilder::Linear {
  const Matrix& matrix;
  Weight weight{};
  std::int64_t rows = 0;  ///< that are multiplied: a matrix cut by columns meets the positions of all ranks
  Value in{};
  Value out{};
  bool merged = false;   ///< with its adapter before it multiplies
  bool trained = false;  ///< it has a gradient, be it the adapter's alone
  bool narrows = false;  ///< its input itself, and widens what it makes again

  bool is_gathered() const { return rows != in.rows; }
  bool in_kernel() const { return matrix.multiplier >= Multiplier::kernel; }
};

/// bitsandbytes casts what it multiplies to its own type, and what it makes back to that of its input (nn/modules.py,
/// Linear4bit.forward; autograd/_functions.py, MatMul8bitLt.forward).
bool BlockBuilder::keeps_input_type(const Matrix& matrix) const {
  return context_.dequantizes && matrix.resting == Resting::as_layers && context_.profile.quantized.keeps_input_type;
}

/// Under autocast every matrix product makes its own 16-bit copy of a wide input; only leaf weights are cached
/// (pytorch aten/src/ATen/autocast_mode.cpp, cached_cast).
Value BlockBuilder::cast_for_matrix(const Value& x, std::string_view name) {
  return context_.autocast ? cast(x, context_.width, name) : x;
}

/// Experts are spread over expert-parallel ranks and cut by expert tensor parallelism, all others by tensor
/// parallelism.
Weight BlockBuilder::matrix_weight(const Matrix& matrix) const {
  const bool expert = matrix.experts > 1;
  const std::int64_t cuts = expert ? context_.etp : context_.tp;
  Weight w{.role = matrix.role, .name = matrix.name()};
  w.whole = product(matrix.rows, matrix.columns, matrix.experts);
  w.active = product(matrix.rows, matrix.columns, matrix.active_experts);
  w.rows = matrix.cut == Cut::rows ? matrix.rows / cuts : matrix.rows;
  w.columns = matrix.cut == Cut::columns ? matrix.columns / cuts : matrix.columns;
  w.elements = product(w.rows, w.columns, expert ? matrix.experts / context_.ep : 1);
  const formats::Dtype as_layers = expert ? context_.expert_type : context_.matrix_type;
  w.dtype = matrix.resting == Resting::as_layers ? as_layers : context_.other_type;
  w.trainable = context_.trains_base;
  w.shards_scales = context_.profile.quantized.scales;
  w.stacked = expert && context_.profile.experts.one_parameter;
  if (matrix.cut != Cut::none) w.split = expert ? Split::expert : Split::tensor;
  if (keeps_narrow(matrix)) keep_for_products(w);
  return w;
}

void BlockBuilder::keep_input(Op& op, const Matrix& matrix, const Value& in, const Value& out) {
  if (keeps_narrow(matrix) && !block_.tensors[in.id].discarded) {
    keep_narrow_input(op, in, out);
  } else {
    op.saved.push_back(in.id);
  }
}

/// Read wide and written narrow, and back its gradient where it is trained, each in a kernel of its own.
void BlockBuilder::keep_cast_weight(Op& op, const Weight& w) {
  const Value copy = value("weight (16 bit)", w.elements / w.columns, w.columns, context_.width, false);
  const auto moved = formats::storage_bytes(w.dtype, w.elements) + size(copy.id);
  if (formats::facts(w.dtype).bits == 32) pass_over("weight (16 bit)", moved, w.trainable ? moved : bytes(0));
  op.outputs.push_back(copy.id);
  op.saved.push_back(copy.id);
}

/// A compiled layer keeps only what its backward pass reads, which of the last product's output is nothing: to save it
/// forbids making it again, no more (pytorch torch/_functorch/partitioners.py, should_ban_recomputation).
bool BlockBuilder::is_read_backward(const Matrix& matrix) const {
  return !context_.training.compile || matrix.role != Role::down;
}

BlockBuilder::Linear BlockBuilder::lay_out(const Value& x, const Matrix& matrix) {
  Linear linear{.matrix = matrix, .narrows = keeps_input_type(matrix)};
  const std::int64_t width = linear.narrows ? context_.product_width : context_.width;
  constexpr std::string_view narrowed = "matrix input (16 bit)";
  linear.in = linear.narrows ? cast(x, width, narrowed) : cast_for_matrix(x, narrowed);
  linear.weight = trained_whole(matrix_weight(matrix));
  const std::int64_t spread = matrix.experts > 1 ? 1 : context_.sp;
  linear.rows = matrix.cut == Cut::columns ? product(linear.in.rows, spread) : linear.in.rows;
  const std::int64_t out_rows = matrix.cut == Cut::rows ? linear.rows / spread : linear.rows;
  linear.merged = merges_adapter(matrix);
  linear.trained = linear.weight.trainable || linear.merged;
  linear.out = value(matrix.name(), out_rows, linear.weight.columns, width, linear.in.needs_gradient || linear.trained);
  return linear;
}

/// Forward 2*rows*in*out FLOPs, and as many again for each gradient that is needed.
Op BlockBuilder::product_of(const Linear& linear) {
  const auto& [matrix, w, rows, in, out, merged, trained, narrows_input] = linear;
  const auto work = flops(multiply_add_flops(rows, w.rows, w.columns));
  Op op{.kind = OpKind::linear, .name = matrix.name(), .inputs = {in.id}, .outputs = {out.id}};
  op.weight = weight(w);
  op.narrow = narrows(matrix);
  op.wide = in.width > context_.product_width;
  op.forward = work;
  if (in.needs_gradient) op.backward_input = work;
  if (trained || (linear.in_kernel() && in.needs_gradient)) op.backward_weight = work;
  if (matrix.multiplier == Multiplier::kernel_twice) op.kernel_recompute = work;
  const std::int64_t matrices = matrix.experts > 1 ? matrix.experts / context_.ep : 1;
  op.product = {quantity::ceil_divide(rows, matrices), w.columns, w.rows, matrices};
  op.kernels = op.kernels_backward = static_cast<std::int32_t>(context_.profile.experts.one_product ? 1 : matrices);
  return op;
}

/// Keeps X only if W is trained; a 16-bit copy of an fp32 W under autocast lives until the backward pass.
/// \param first_reader  nobody has gathered this input before
void BlockBuilder::keep_operands(Op& op, const Linear& linear, bool first_reader) {
  const Value& in = linear.in;
  const bool whole_kept = linear.trained && linear.is_gathered() && stays_gathered();
  if (whole_kept) {
    keep_gathered(op, in, first_reader);
  } else if (linear.trained && !linear.in_kernel()) {
    keep_input(op, linear.matrix, in, linear.out);
  }
  const bool as_multiplied = linear.weight.dtype == context_.training.precision.compute;
  if (context_.autocast && !formats::is_quantized(linear.weight.dtype) && !as_multiplied) {
    keep_cast_weight(op, linear.weight);
  }
  if (linear.is_gathered() && !whole_kept)
    gather_around(op, bytes(product(linear.rows, in.columns, in.width)), in.needs_gradient);
  if (linear.rows != linear.out.rows)
    add_workspace(op, bytes(product(linear.rows, linear.weight.columns, context_.width)));
}

void BlockBuilder::narrow_operands(const Op& op, const Linear& linear) {
  if (keeps_narrow(linear.matrix)) {
    quantize(linear.in, linear.out, op.kernels);
  } else if (op.narrow) {
    cast_at_each_use(linear.weight, linear.in, linear.out, linear.rows);
  }
}

/// Products that have a name by which a layer that runs again may keep them (MaxText layers/linears.py, MlpBlock,
/// layers/moe.py and layers/attentions.py: mlpwi_0, mlpwi_1, mlpwo, out_proj).
bool BlockBuilder::keeps_named(const Matrix& matrix) const {
  using spec::KeptResult;
  const auto use = spec::use_of(matrix.role);
  const auto is = [&](spec::Use one, KeptResult result) { return use == one && context_.keeps(result); };
  return is(spec::Use::attention_out, KeptResult::out) || is(spec::Use::gate, KeptResult::gate) ||
         is(spec::Use::up, KeptResult::up) || is(spec::Use::gate_up, KeptResult::gate) ||
         is(spec::Use::gate_up, KeptResult::up) || is(spec::Use::down, KeptResult::down);
}

/// Y = X W, or what its adapters make of it. Under sequence parallelism a column-cut matrix gathers its input's
/// positions first and keeps the slice only; a row-cut one scatters its output's and gathers their gradient
/// (Korthikanti et al. 2022 §4.2.2). Adapters read what the matrix was given, and under autocast a 16-bit copy of it.
Value BlockBuilder::linear(const Value& x, const Matrix& matrix) {
  const Linear linear = lay_out(x, matrix);
  const Value& in = linear.in;
  const Value& out = linear.out;
  Op op = product_of(linear);
  const bool first_reader = gathered_ != in.id;
  exchange_around(op, matrix, in, out);
  keep_operands(op, linear, first_reader);
  if (context_.dequantizes && matrix.resting == Resting::as_layers) dequantize(op, linear.weight, in);
  if (linear.merged) merge_adapter(op, matrix, linear.weight);
  append(op);
  copy_in_order(op);
  narrow_operands(op, linear);
  const bool in_turn = context_.selects_operations && products_++ % 2 == 0 && is_read_backward(matrix);
  if (in_turn || keeps_named(matrix)) keep_through_recompute(out);
  matrix_bias(matrix, out);
  const Value made = linear.narrows ? cast(out, x.width, "product (in its input's type)") : out;
  if (!is_adapted(matrix) || linear.merged) return made;
  if (matrix.multiplier == Multiplier::module) return adapted(context_.autocast ? in : x, made, matrix);
  idle_adapter(matrix);
  return made;
}

// Biases of matrices, and who adds up their gradients.

/// A loop over the local experts adds probability times bias in fp32, puts the results together and casts them
/// (Megatron-LM core/transformer/moe/experts.py, TEGroupedMLP._apply_bias); grouped kernels do so inside the product.
/// Bytes an element forward: the products written (4), the sums read and written (2 + 4 + 4), put together (4 + 4),
/// cast (4 + 2). Backward: the cast (2 + 4), a narrow gradient for the product (4 + 2), put together (2 + 2), of the
/// bias and of the probability each a product and its sum (4 + 4 + 4 and 4 + 4 + 4), the bias's read narrow (4).
void BlockBuilder::add_expert_biases(const Matrix& matrix, const Value& out) {
  if (!context_.profile.experts.loops_over_biases || context_.profile.experts.one_product) return;
  constexpr std::int64_t forward_bytes = 28;
  constexpr std::int64_t backward_bytes = 44;
  constexpr std::int64_t forward_kernels = 3;
  constexpr std::int64_t backward_kernels = 8;
  const std::int64_t elements = product(out.rows, out.columns);
  const std::int64_t experts = matrix.experts / context_.ep;
  pass_over("expert biases", bytes(product(forward_bytes, elements)), bytes(product(backward_bytes, elements)));
  Op& op = block_.ops.back();
  op.eager = true;
  op.kernels = static_cast<std::int32_t>(forward_kernels * experts);
  op.kernels_backward = static_cast<std::int32_t>(backward_kernels * experts);
}

/// The bias is added inside the product's kernel; its gradient is a sum over the rows of the output's
/// (torch.nn.Linear), which Transformer Engine makes in the epilogue of the weight gradient's product
/// (cpp_extensions/gemm.py, BGRADB), or where it narrows the gradient of the output (module/linear.py,
/// fp8_cast_transpose_bgrad_fused).
void BlockBuilder::matrix_bias(const Matrix& matrix, const Value& out) {
  if (!matrix.bias) return;
  if (matrix.experts > 1 && matrix.cut == Cut::rows) add_expert_biases(matrix, out);
  const auto& profile = context_.profile;
  const bool within = profile.gradients.fuses_small && !profile.gradients.sums_biases_apart;
  const bool fused = within || (profile.narrow.casts_in_one_pass && narrows(matrix));
  const bool separate = context_.trains_base && !fused;
  if (separate) pass_over("bias gradient", bytes(0), size(out.id));
  if (separate) block_.ops.back().eager = !context_.training.compile && !profile.gradients.sums_biases_apart;
  const WeightId id = vector("bias", matrix.columns, matrix.experts > 1 ? Cut::none : matrix.cut);
  if (matrix.experts <= 1) return;
  Weight& w = block_.weights[id];
  w.active = product(matrix.columns, matrix.active_experts);
  w.whole = product(matrix.columns, matrix.experts);
  w.elements = w.whole / context_.ep / (matrix.cut == Cut::columns ? context_.etp : 1);
  w.split = Split::expert;
}

}  // namespace llmcalc::layers
