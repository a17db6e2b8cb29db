// Normalisation, in one kernel or as a chain of tensor operations.

#include "layers/inner/builder.hpp"
#include "layers/widths.hpp"

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;
using spec::NormForm;

namespace {

/// How often the kernels of an operation and of its gradient pass over a tensor; a broadcast operand is nothing beside.
struct Passes {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};
/// Forward the square is read and written, and read for the mean. Backward the mean's gradient is written, the power
/// that the derivative needs is read and written, and so is its double, and both are multiplied (pytorch
/// torch/csrc/autograd/FunctionsManual.cpp, pow_backward).
constexpr Passes square_passes{3, 8};
/// Backward the gradient of the input is read and written; that of the reciprocal root is a product, which is summed.
constexpr Passes normalise_passes{2, 6};

void set_passes(Op& op, const Tensor& tensor, const Passes& passes) {
  op.moved_forward = passes.forward * tensor.size;
  op.moved_backward = passes.backward * tensor.gradient;
}

/// Operations appended in its lifetime were measured as a whole, with their reductions, and take the rate of those.
class ChainOfKernels {
 public:
  explicit ChainOfKernels(BlockBuilder& b) : b_(b), first_(b.block().ops.size()) {}
  ChainOfKernels(const ChainOfKernels&) = delete;
  ChainOfKernels& operator=(const ChainOfKernels&) = delete;
  ~ChainOfKernels() {
    for (std::size_t i = first_; i < b_.block().ops.size(); ++i) {
      b_.block().ops[i].eager = b_.context().profile.kernels.eager;
    }
  }

 private:
  BlockBuilder& b_;
  std::size_t first_;
};

}  // namespace

/// A kernel keeps its input and, per row, fp32 statistics: mean and reciprocal deviation, the latter alone for RMSNorm.
Value BlockBuilder::norm(const Value& x, std::string_view name, spec::Norm kind) {
  if (kind == spec::Norm::rmsnorm && !context_.profile.norm.fused) return eager_rms_norm(x, name);
  const NormForm form = context_.profile.kernels.transformers_modules ? context_.shape().writing.norm : NormForm::plain;
  if (form == NormForm::chained && !context_.profile.norm.fused) return chained_layer_norm(x, name);
  if (form == NormForm::unweighted) return unweighted_norm(x, name);
  if (form == NormForm::widened) return norm_between_casts(x, name, kind);
  return norm_kernel(x, name, kind);
}

Value BlockBuilder::inner_norm(const Value& x, std::string_view name) {
  return context_.shape().writing.inner_norms ? norm(x, name, context_.shape().norm) : x;
}

/// transformers modeling_olmo.py, OlmoLayerNorm.forward: the kernel keeps the fp32 copy of its input.
Value BlockBuilder::norm_between_casts(const Value& x, std::string_view name, spec::Norm kind) {
  return cast(norm_kernel(cast(x, fp32_width, "norm input (fp32)"), "normalised (fp32)", kind), x.width, name);
}

Value BlockBuilder::norm_kernel(const Value& x, std::string_view name, spec::Norm kind) {
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient || context_.trains_base);
  Op op{.kind = OpKind::norm, .name = name, .inputs = {x.id}, .outputs = {y.id}, .saved = {x.id}};
  if (context_.profile.norm.keeps_statistics) {
    const std::int64_t statistics = kind == spec::Norm::rmsnorm ? 1 : 2;
    const Value stats = value("norm statistics", x.rows, statistics, fp32_width, false);
    op.outputs.push_back(stats.id);
    op.saved.push_back(stats.id);
  }
  if (kind != spec::Norm::nonparametric) op.weight = vector("norm", x.columns);
  Op& appended = append(op);
  // A second kernel reads input and gradient again for the weight's (pytorch aten/src/ATen/native/cuda/
  // layer_norm_kernel.cu, GammaBetaBackwardCUDAKernel).
  const bool separate = context_.trains_base && !context_.profile.gradients.fuses_small;
  if (separate) appended.moved_backward += size(x.id) + size(y.id);
  if (kind == spec::Norm::layernorm) vector("norm bias", x.columns);
  if (context_.profile.norm.widens) widen_norm(x);
  return y;
}

/// Forward as backward 2+4 bytes to cast and 4+2 to cast back, in PyTorch's kernels, and 4+4 instead of 2+2 in the
/// norm's own.
void BlockBuilder::widen_norm(const Value& x) {
  const auto both_ways = [&](std::string_view name, std::int64_t bytes_each) {
    const auto moved = bytes(product(bytes_each, x.rows, x.columns));
    pass_over(name, moved, context_.differentiates ? moved : bytes(0));
  };
  both_ways("norm in fp32", 4);
  both_ways("casts around the norm", 12);
  block_.ops.back().eager = true;
}

/// One over the root of the mean square of each row; the square keeps `x`, the root itself, where `x` has a gradient.
Value BlockBuilder::reciprocal_root(const Value& x) {
  const Value root = value("reciprocal root", x.rows, 1, fp32_width, x.needs_gradient);
  Op square{.kind = OpKind::norm,
            .name = "mean square",
            .inputs = {x.id},
            .outputs = {root.id},
            .workspace_forward = size(x.id)};
  if (x.needs_gradient) square.saved = {x.id, root.id};
  set_passes(append(square), block_.tensors[x.id], square_passes);
  return root;
}

/// The product keeps both factors.
Value BlockBuilder::normalised(const Value& x, const Value& root) {
  const Value y = value("normalised (fp32)", x.rows, x.columns, fp32_width, x.needs_gradient);
  Op normalise{.kind = OpKind::elementwise, .name = "normalise", .inputs = {x.id, root.id}, .outputs = {y.id}};
  if (x.needs_gradient) normalise.saved = {x.id, root.id};
  set_passes(append(normalise), block_.tensors[x.id], normalise_passes);
  return y;
}

/// The weight's product, which keeps its other factor if the weight is trained.
Value BlockBuilder::weighted_norm(const Value& x, std::string_view name) {
  const Value y = value(name, x.rows, x.columns, x.width, x.needs_gradient || context_.trains_base);
  Op weigh{.kind = OpKind::elementwise, .name = name, .inputs = {x.id}, .outputs = {y.id}};
  weigh.weight = vector("norm", x.columns);
  if (context_.trains_base) weigh.saved.push_back(x.id);
  Op& weighed = append(weigh);
  // The weight's gradient: a product of its own, which is written, and read to be summed over the rows.
  if (context_.trains_base) weighed.moved_backward += 3 * size(y.id);
  return y;
}

/// RMSNorm as transformers writes it (modeling_llama.py, LlamaRMSNorm.forward): up to fp32, square, mean, rsqrt,
/// multiply, back down, times the weight. Kept: the fp32 copy (4 B an element), the reciprocal root (4 B a row) and,
/// if the weight is trained, the normalised copy: 2 B an element, or 4 B where it goes down after the weight only
/// (modeling_gemma.py, GemmaRMSNorm.forward; litgpt/model.py, RMSNorm.forward). In 16 bits its kernels move 36 bytes an
/// element forward and 84 backward with what is added up, 8 more for a trained weight.
Value BlockBuilder::eager_rms_norm(const Value& x, std::string_view name) {
  if (context_.profile.norm.weighs_wide || context_.shape().writing.norm == NormForm::offset) {
    const ChainOfKernels chain(*this);
    return cast(weighted_wide(x, "weighted (fp32)"), x.width, name);
  }
  if (context_.shape().writing.norm == NormForm::narrow_product) return weighted_apart(x, name);
  return weighted_narrow(x, name);
}

/// transformers modeling_t5.py, T5LayerNorm.forward: the fp32 copy is squared only, and the product keeps the input.
Value BlockBuilder::weighted_apart(const Value& x, std::string_view name) {
  const ChainOfKernels chain(*this);
  const Value root = reciprocal_root(cast(x, fp32_width, "norm input (fp32)"));
  return weighted_norm(cast(normalised(x, root), x.width, "normalised"), name);
}

Value BlockBuilder::weighted_wide(const Value& x, std::string_view name) {
  const ChainOfKernels chain(*this);
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  return weighted_norm(normalised(wide, reciprocal_root(wide)), name);
}

Value BlockBuilder::weighted_narrow(const Value& x, std::string_view name) {
  const ChainOfKernels chain(*this);
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  return weighted_norm(cast(normalised(wide, reciprocal_root(wide)), x.width, "normalised"), name);
}

/// transformers modeling_nanochat.py, NanoChatRMSNorm.forward.
Value BlockBuilder::unweighted_norm(const Value& x, std::string_view name) {
  if (context_.profile.norm.fused) return norm_kernel(x, name, spec::Norm::nonparametric);
  const ChainOfKernels chain(*this);
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  return cast(normalised(wide, reciprocal_root(wide)), x.width, name);
}

/// LayerNorm in fp32, an operation at a time: the difference from the mean is made once for its square and once more
/// for the product with the root (transformers modeling_cohere.py, CohereLayerNorm.forward). Kept: both differences
/// (8 B an element), the root (4 B a row) and, if the weight is trained, the normalised copy (4 B an element).
Value BlockBuilder::chained_layer_norm(const Value& x, std::string_view name) {
  const ChainOfKernels chain(*this);
  const Value wide = cast(x, fp32_width, "norm input (fp32)");
  const Value root = reciprocal_root(each(wide, "difference to square"));
  const Value scaled = normalised(each(wide, "difference"), root);
  return cast(weighted_norm(scaled, "weighted (fp32)"), x.width, name);
}

}  // namespace llmcalc::layers
