// Biases of matrices, and who adds up their gradients.
#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

/// A loop over the local experts adds probability times bias in fp32, puts the results together and casts them
/// (Megatron-LM core/transformer/moe/experts.py, TEGroupedMLP._apply_bias); grouped kernels do so inside the product.
/// Bytes an element forward: the products written (4), the sums read and written (2 + 4 + 4), put together (4 + 4),
/// cast (4 + 2). Backward: the cast (2 + 4), a narrow gradient for the product (4 + 2), put together (2 + 2), of the
/// bias and of the probability each a product and its sum (4 + 4 + 4 and 4 + 4 + 4), the bias's read narrow (4).
void BlockBuilder::add_expert_biases(const Matrix& matrix, const Value& out) {
  if (!context_.profile.experts.loops_over_biases || context_.fuses_experts) return;
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
