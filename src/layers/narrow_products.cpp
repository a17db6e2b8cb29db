// Matrix products in 8 or 4 bits, and of matrices that rest in them: which they are, and what makes their operands.

#include "layers/inner/builder.hpp"

#include <utility>

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

/// The matrices of the layers are multiplied in 8 or 4 bit, the router and the head in 16 (Transformer Engine's
/// modules; torchtitan components/quantization/float8.py, filter_fqns), unless the head is asked for (Megatron-LM
/// --fp8-output-proj).
bool BlockBuilder::narrows(const Matrix& matrix) const {
  const bool covered = matrix.experts == 1 || context_.profile.experts.narrow;
  const bool of_layers = matrix.resting == Resting::as_layers;
  const bool head = context_.training.fp8_head && matrix.role == Role::head;
  return context_.narrow_products && covered && (of_layers || head);
}

bool BlockBuilder::keeps_narrow(const Matrix& matrix) const {
  return context_.profile.narrow.keeps_inputs && narrows(matrix);
}

/// A weight that rests in the type of the products has all their layouts; another has copies in that type beside it.
void BlockBuilder::keep_for_products(Weight& w) const {
  const auto& precision = context_.training.precision;
  if (w.dtype == precision.compute) {
    w.layouts = context_.profile.narrow.layouts;
  } else {
    w.copy_type = precision.compute;
    w.copies = context_.profile.narrow.layouts;
  }
}

/// The input in the type of the products is kept in the layout of the weight gradient's product (but not of an input
/// that is made again: Megatron-LM core/extensions/transformer_engine.py, set_save_original_input), and a second one
/// exists while the forward product runs; the gradient of the output is narrowed to both (TransformerEngine
/// pytorch/module/linear.py, forward and backward).
void BlockBuilder::keep_narrow_input(Op& op, const Value& in, const Value& out) {
  const auto type = context_.training.precision.compute;
  const auto narrow = formats::storage_bytes(type, product(in.rows, in.columns));
  block_.tensors.push_back({"matrix input (narrow)", narrow, bytes(0)});
  const auto copy = static_cast<TensorId>(block_.tensors.size() - 1);
  op.outputs.push_back(copy);
  op.saved.push_back(copy);
  op.workspace_forward += narrow;
  op.workspace_backward += 2 * formats::storage_bytes(type, product(out.rows, out.columns));
}

/// Transformer Engine narrows the input of a product and the gradient of its output in kernels of their own, which read
/// 16 bits and write each layout; a scale for the whole tensor needs its largest element first, which is one more pass
/// (TransformerEngine pytorch/tensor/float8_tensor.py, Float8CurrentScalingQuantizer). NVFP4 finds the largest element
/// of the tensor and of its Hadamard transform in one pass, and writes each layout in a kernel of its own, the
/// column-wise one of the transform (pytorch/csrc/quantizer.cpp, NVFP4Quantizer::quantize_impl;
/// common/hadamard_transform). Each expert's rows are narrowed by kernels of their own, one, two or three
/// (pytorch/module/grouped_linear.py, split_quantize). Both layouts of blocks at once are no faster than rows put in
/// another order: 4.1 of B200's 8 TB/s on 4096 x 14336 (NVIDIA/TransformerEngine pull request 3137).
void BlockBuilder::quantize(const Value& in, const Value& out, std::int64_t tensors) {
  const auto type = context_.training.precision.compute;
  const auto& scale = formats::facts(type).scale;
  const bool in_blocks = scale.block > 0;
  const bool of_whole = !in_blocks || scale.tensor_bytes > 0;
  const std::int64_t reads = (of_whole ? 1 : 0) + (in_blocks && of_whole ? context_.profile.narrow.layouts : 1);
  const auto traffic = [&](const Value& x) {
    const std::int64_t elements = product(x.rows, x.columns);
    return reads * bytes(product(elements, x.width)) +
           context_.profile.narrow.layouts * formats::storage_bytes(type, elements);
  };
  pass_over("quantization", traffic(in), traffic(out));
  Op& op = block_.ops.back();
  if (in_blocks) op.kind = OpKind::permutation;
  op.kernels = op.kernels_backward = static_cast<std::int32_t>(reads * tensors);
}

/// Held as an attribute of the node instead of by save_for_backward, so that nothing frees it once the node has run.
void BlockBuilder::keep_in_node(Op& op, const Value& x) {
  op.saved.push_back(x.id);
  block_.tensors[x.id].kept_by_node = true;
}

/// A matrix that rests quantized is read and written in 16 bits before the product of each pass (Dettmers et al. 2023,
/// arXiv:2305.14314 section 3; bitsandbytes autograd/_functions.py, MatMul4Bit: dequantize_4bit in forward and in
/// backward). What else is made on the way is written and read once more.
void BlockBuilder::dequantize(Op& op, const Weight& w, const Value& in) {
  const std::int64_t copies = context_.profile.quantized.dequantized_copies;
  const auto of_one_matrix = bytes(product(w.rows, w.columns, context_.product_width, copies));
  op.workspace_forward += of_one_matrix;
  op.workspace_backward += of_one_matrix;
  if (context_.profile.quantized.keeps_inputs && in.needs_gradient) keep_in_node(op, in);
  if (unpacks_by_steps(w)) return unpack_by_steps(w);
  const auto moved =
      formats::storage_bytes(w.dtype, w.elements) + bytes(product(2 * copies - 1, w.elements, context_.product_width));
  pass_over("dequantization", moved, in.needs_gradient ? moved : bytes(0));
  block_.ops.back().calls = context_.profile.quantized.calls;
}

bool BlockBuilder::unpacks_by_steps(const Weight& w) const {
  const bool packed = w.dtype == formats::Dtype::int4_gptq || w.dtype == formats::Dtype::int8_gptq;
  return packed && context_.profile.quantized.unpacks_by_steps;
}

/// AutoGPTQ's layers that can be trained shift the packed codes apart in 32 bits, narrow, mask, subtract zero points
/// and multiply by scales, each in a kernel of PyTorch's, as do five for the zero points. The weights that come out are
/// kept for the input's gradient (auto_gptq nn_modules/qlinear/qlinear_cuda_old.py, QuantLinear.forward with
/// trainable=True, which optimum takes where exllama is off).
void BlockBuilder::unpack_by_steps(const Weight& w) {
  constexpr std::int64_t shifted = 4;
  constexpr std::int32_t kernels = 5 + 5;
  const std::int64_t code = w.dtype == formats::Dtype::int4_gptq ? 1 : 2;  // bytes once it is apart
  const std::int64_t narrowed_masked_subtracted = shifted + code + 4 * code;
  const std::int64_t moved = shifted + narrowed_masked_subtracted + code + context_.product_width;
  const auto bytes_moved = formats::storage_bytes(w.dtype, w.elements) + bytes(product(moved, w.elements));
  pass_over("dequantization", bytes_moved, bytes(0));
  block_.ops.back().kernels = kernels;
}

/// torchao casts an input to both layouts at once, a weight to one before the forward product and to the other before
/// the input's gradient, and the gradient of the output to both. The largest element is found in a pass of its own, of
/// inputs and gradients by the kernel that makes them where it is compiled, which also makes matrices with the same
/// input share its copy (pytorch/ao torchao/testing/training/roofline_utils.py, get_tensor_memory_traffic_ovhd_s,
/// tensorwise). Delayed scaling knows the scale beforehand and makes both layouts of each in one kernel
/// (TransformerEngine docs/features/low_precision_training/fp8_delayed_scaling; common/transpose/cast_transpose.cu).
void BlockBuilder::cast_at_each_use(const Weight& w, const Value& in, const Value& out, std::int64_t rows) {
  const auto type = context_.training.precision.compute;
  const auto cast = [&](std::int64_t elements, std::int64_t reads, std::int64_t writes) {
    return bytes(product(reads, elements, context_.width)) + writes * formats::storage_bytes(type, elements);
  };
  if (context_.profile.narrow.casts_in_one_pass) {
    const auto back = context_.differentiates ? cast(product(out.rows, out.columns), 1, 2) : bytes(0);
    pass_over("cast", cast(product(in.rows, in.columns) + w.elements, 1, 2), back);
    block_.ops.back().eager = false;
    return;
  }
  if (context_.training.fp8_scaling == spec::Fp8Scaling::row) return cast_by_row(w, in, out, rows);
  const bool compiled = context_.training.compile;
  const std::int64_t reads = compiled ? 1 : 2;
  const bool shared = std::exchange(narrowed_, in.id) == in.id && compiled;
  const auto input = shared ? bytes(0) : cast(product(in.rows, in.columns), reads, 2);
  const auto gradient = cast(product(out.rows, out.columns), reads, 2);
  const auto back = context_.differentiates ? gradient + cast(w.elements, 1, 1) : bytes(0);
  pass_over("cast", input + cast(w.elements, 2, 1), back);
}

/// Scales by row are others in either layout. One kernel writes the first and a transposed copy in 16 bits, a second
/// makes the other layout of that; a weight is transposed in a kernel of its own (pytorch/ao
/// torchao/testing/training/roofline_utils.py, get_tensor_memory_traffic_ovhd_s, rowwise). The kernel that multiplies
/// by row is slow with exact sums, which both gradients have: cuBLAS makes them unscaled, and another kernel scales
/// them (torchao/float8/float8_ops.py, addmm_float8_unwrapped, post_inverse_scale). Between tensor-parallel ranks all
/// positions are there before they are cast.
void BlockBuilder::cast_by_row(const Weight& w, const Value& in, const Value& out, std::int64_t rows) {
  const std::int64_t wide = context_.width;
  const auto type = context_.training.precision.compute;
  const auto passes = [&](std::int64_t elements, std::int64_t in_16_bits, std::int64_t in_8_bits) {
    return bytes(product(in_16_bits, elements, wide)) + in_8_bits * formats::storage_bytes(type, elements);
  };
  const bool compiled = context_.training.compile;
  const std::int64_t copies = compiled ? 2 : 3;  // what made the tensor has its rows at hand where it is compiled
  const bool shared = std::exchange(narrowed_, in.id) == in.id && compiled;
  const std::int64_t inputs = product(rows, in.columns);
  const std::int64_t gradients = product(rows, out.columns);
  const auto input = shared ? bytes(0) : passes(inputs, copies, 2);
  const auto scaled = passes(inputs + w.elements, 2, 0);
  const auto back = passes(gradients, copies, 2) + passes(w.elements, 3, 1) + scaled;
  pass_over("cast", input + passes(w.elements, 1, 1), context_.differentiates ? back : bytes(0));
}

}  // namespace llmcalc::layers
