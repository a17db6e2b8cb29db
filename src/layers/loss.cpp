#include "layers/inner/parts.hpp"
#include "layers/widths.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::layers {

using quantity::bytes;
using quantity::product;

namespace {

// Losses that take the place of the head's product, so that all logits never exist at once.

/// Rows of one chunk of the fused linear cross-entropy: a power of two such that a chunk's logits are about as large as
/// the hidden states (Liger-Kernel ops/fused_linear_cross_entropy.py, fused_linear_cross_entropy_forward).
std::int64_t fused_linear_chunk(std::int64_t rows, std::int64_t hidden, std::int64_t vocab) {
  const std::int64_t chunks = quantity::ceil_divide(vocab, hidden);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(quantity::ceil_divide(rows, chunks))));
}

/// One chunk; or a tile of all logits in fp32 (unsloth-zoo fused_losses/fused_linear.py: fused_linear_rows, and the
/// tiled forward pass of a frozen head).
quantity::Bytes logits_at_once(const Context& c, const Value& logits, const Weight& head) {
  const auto tile = c.profile.head.loss_tile;
  if (tile > bytes(0)) return std::min(tile, bytes(product(logits.rows, logits.columns, fp32_width)));
  return bytes(product(fused_linear_chunk(logits.rows, head.rows, head.columns), logits.columns, c.width));
}

/// Each chunk is multiplied by itself, and reads the head and the sum of its gradients again; the kernel of the loss
/// reads a chunk's logits twice and writes their gradient over them.
/// \param at_once  bytes of the logits that are made at once, `width` bytes each
void multiply_by_chunks(BlockBuilder& b, Op& op, const Value& logits, quantity::Bytes at_once) {
  constexpr std::int64_t loss_passes = 3;
  const Weight& head = b.block().weights[op.weight];
  const std::int64_t width = b.context().profile.head.loss_tile > bytes(0) ? fp32_width : b.context().width;
  const std::int64_t rows = std::max<std::int64_t>(1, in_bytes(at_once) / product(logits.columns, width));
  const std::int64_t chunks = quantity::ceil_divide(op.product.m, rows);
  op.product.m = quantity::ceil_divide(op.product.m, chunks);
  op.product.count = chunks;
  op.kernels = op.kernels_backward = static_cast<std::int32_t>(chunks);
  const auto sums = head.trainable ? product(chunks, head.elements, b.context().width) : 0;
  b.pass_over("loss of chunks", bytes(loss_passes * product(logits.rows, logits.columns, width) + sums), bytes(0));
}

/// Takes the head's product out of the block: a kernel that goes on to the loss stands in its place.
Op take_product(Block& block, const Matrix& head) {
  const auto multiplies = [&](const Op& op) {
    return op.weight != no_weight && block.weights[op.weight].role == head.role;
  };
  const auto product = std::ranges::find_if(block.ops, multiplies);
  Op op = *product;
  block.ops.erase(product);
  return op;
}

/// Head and loss in one operation: a chunk of logits at a time; both gradients are made in the forward pass and kept.
void fused_linear_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  Block& block = b.block();
  const Value logits = b.linear(x, head);
  Op op = take_product(block, head);
  const Weight& w = block.weights[op.weight];
  const Value input_gradient = b.value("gradient of hidden", x.rows, x.columns, x.width, false);
  op.kind = OpKind::loss;
  op.name = "fused linear cross-entropy";
  op.outputs = {input_gradient.id};
  op.saved = {input_gradient.id};
  if (w.trainable) {
    const Value weight_gradient = b.value("gradient of head", w.rows, w.columns, b.context().width, false);
    op.outputs.push_back(weight_gradient.id);
    op.saved.push_back(weight_gradient.id);
  }
  op.workspace_forward = logits_at_once(b.context(), logits, w);
  op.gradient_in_place = true;
  multiply_by_chunks(b, op, logits, op.workspace_forward);
  b.append(op);
}

/// Cut cross-entropy: logits exist in the kernel's registers alone and are made again in its backward pass. Kept are
/// each position's log-sum-exp and the logit of its label in fp32; both gradients are made backward (Wijmans et al.
/// 2024, arXiv:2411.09009 section 4; apple/ml-cross-entropy cut_cross_entropy/cce.py).
void cut_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  constexpr std::int64_t kept_numbers = 2;
  const Value logits = b.linear(x, head);
  Op op = take_product(b.block(), head);
  const Value kept = b.value("log-sum-exp and label", logits.rows, kept_numbers, fp32_width, logits.needs_gradient);
  const auto made = op.outputs;  // behind the logits, a head that was narrowed for them
  op.outputs = {kept.id};
  if (made.size() > 1) op.outputs.push_back(made[1]);
  op.kernel_recompute = op.forward;
  b.append(op);
  b.append({.kind = OpKind::loss, .name = "cut cross-entropy", .inputs = {kept.id}, .saved = {kept.id}});
}

/// Tiles of 4,096 positions and 32,768 logits, made again backward, where the gradients of hidden states and head add
/// up in fp32 (trl kernels/chunked_logprob.py, _ChunkedLogProbFunction; trainer/utils.py,
/// _CHUNKED_LOGPROB_CHUNK_SIZE). A wider head is narrowed a tile at a time. Kept are two fp32 numbers a position.
void tiled_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  constexpr std::int64_t tile_positions = 4096;
  constexpr std::int64_t tile_logits = 32768;
  constexpr std::int64_t kept_numbers = 2;
  const Value logits = b.linear(x, head);
  Op op = take_product(b.block(), head);
  const Weight& w = b.block().weights[op.weight];
  const Value kept = b.value("log-sum-exp and label", logits.rows, kept_numbers, fp32_width, logits.needs_gradient);
  const std::int64_t columns = std::min(logits.columns, tile_logits);
  const auto tile = bytes(product(std::min(logits.rows, tile_positions), columns, half_width));
  const auto narrowed = bytes(w.dtype == formats::Dtype::fp32 ? product(columns, w.rows, half_width) : 0);
  const bool widens_head = w.trainable && w.dtype != formats::Dtype::fp32;
  op.outputs = {kept.id};
  op.saved = {op.inputs[0]};
  op.kernel_recompute = op.forward;
  op.scratch_tensor = tile;
  op.workspace_forward = tile + narrowed;
  op.workspace_backward = op.workspace_forward + bytes(product(x.rows, x.columns, fp32_width)) +
                          bytes(widens_head ? product(w.elements, fp32_width) : 0);
  b.append(op);
  b.append({.kind = OpKind::loss, .name = "log-probabilities", .inputs = {kept.id}, .saved = {kept.id}});
}

Value logits_of(BlockBuilder& b, const Value& x, const Matrix& head) {
  const Value logits = b.linear(x, head);
  return b.context().shape().writing.caps_logits ? b.capped(logits, "capped logits") : logits;
}

Op loss_on(const Value& logits, std::string_view name) {
  return {.kind = OpKind::loss, .name = name, .inputs = {logits.id}, .saved = {logits.id}};
}

void metrics(BlockBuilder& b, const Value& logits) {
  const std::int64_t passed_over = b.context().profile.head.metric_bytes;
  if (passed_over == 0 || !b.context().differentiates) return;
  b.pass_over("metrics of training", bytes(product(passed_over, logits.rows, logits.columns)), bytes(0));
  b.block().ops.back().eager = true;
}

/// Passes of Megatron-LM's softmax beyond copy, result and gradient: the maximum reads the fp32 logits, its
/// subtraction, the exponential and the division read and write them, their sum reads them; backward the factor of the
/// loss reads and writes them (core/tensor_parallel/cross_entropy.py, calculate_predicted_logits to
/// calculate_gradients).
constexpr std::int64_t softmax_passes = 8;
constexpr std::int64_t gradient_passes = 2;

/// One fp32 copy of the logits, turned into the softmax in place and into its own gradient in place
/// (Megatron-LM core/tensor_parallel/cross_entropy.py); the caller holds the 16-bit logits meanwhile. Bytes a logit:
/// 2+4 forward, 4 kept, 4+2 backward.
/// \param compiled  torch.compile makes each new value of an input that it also reduces over in a fresh buffer and
/// copies it back (core/fusions/fused_cross_entropy.py, "NOTE on in-place semantics"): 4 more bytes a logit.
void in_place_loss(BlockBuilder& b, const Value& x, const Matrix& head, bool compiled) {
  const Value logits = logits_of(b, x, head);
  const Value wide = b.cast(logits, fp32_width, "logits (fp32)");
  Op op = loss_on(wide, "cross-entropy");
  op.gradient_in_place = true;
  op.held.push_back(logits.id);
  if (compiled) op.workspace_forward = op.workspace_backward = b.size(wide.id);
  b.append(op);
  if (b.context().profile.head.loss_in_passes) {
    b.pass_over("softmax in place", softmax_passes * b.size(wide.id), gradient_passes * b.size(wide.id));
    b.block().ops.back().eager = true;
  }
  metrics(b, wide);
}

/// A tensor that a variable of the training loop keeps through the backward pass, beyond that of its own block.
void hold_to_the_end(BlockBuilder& b, const Value& x) {
  if (!b.context().profile.head.holds_wide_logits || !b.context().differentiates) return;
  b.block().ops.front().saved.push_back(x.id);
  b.block().held_by_loop += b.size(x.id);
}

/// The logits as transformers hands them to its loss, and what its local variables hold meanwhile.
struct WideLogits {
  Value shifted;
  SmallList<TensorId, 3> held;
};

/// A copy lacks each sample's last position, so that no block of the one serves the other. The shifted logits of one
/// sample are a part of them that is contiguous as it is.
Value shifted_copy(BlockBuilder& b, const Value& logits) {
  const std::int64_t samples = b.context().batch;
  if (b.context().profile.kernels.transformers_modules && samples == 1) return logits;
  return b.rearrange(logits, "shifted logits", logits.rows - samples, logits.columns, OpKind::permutation);
}

/// Losses of their own shifted the 16-bit logits, and took the loss in their type: autocast alone widens them
/// (transformers 4.48 modeling_gpt_bigcode.py, GPTBigCodeForCausalLM.forward; pytorch autocast_mode.h: cross_entropy).
/// Executed with 4.48.0: of one sample 4 bytes a logit forward and 6 backward, under autocast 10 and 12.
WideLogits narrow_logits(BlockBuilder& b, const Value& logits, const Value& x) {
  const Value shifted = shifted_copy(b, logits);
  WideLogits result{b.context().autocast ? b.cast(shifted, fp32_width, "logits (fp32)") : shifted, {x.id, logits.id}};
  if (shifted.id != logits.id) result.held.push_back(shifted.id);
  return result;
}

/// fp32 logits, of which a contiguous copy leaves the last position out (logits[..., :-1, :]) until transformers 4.49;
/// later versions shift the labels instead. Until 4.44 the fp32 tensor replaced the 16-bit one (modeling_llama.py,
/// LlamaForCausalLM.forward; loss/loss_utils.py, ForCausalLMLoss).
WideLogits wide_logits(BlockBuilder& b, const Value& x, const Matrix& head) {
  const auto& profile = b.context().profile;
  const Value logits = logits_of(b, x, head);
  if (profile.head.narrow_by_family && b.context().shape().writing.narrow_loss) return narrow_logits(b, logits, x);
  if (profile.head.in_own_type && !b.context().training.precision.autocast) return {logits, {x.id, logits.id}};
  const Value wide = b.cast(logits, fp32_width, "logits (fp32)");
  WideLogits result{wide, {x.id, wide.id}};
  if (profile.head.holds_narrow_logits) result.held.push_back(logits.id);
  if (profile.head.shifts_logits) result.shifted = shifted_copy(b, wide);
  return result;
}

/// ATen's kernel reads a row for its maximum, for the sum of its exponentials and for its result, and backward reads
/// the gradient twice (pytorch aten/src/ATen/native/cuda/SoftMax.cu, cunn_SoftMaxForward and cunn_SoftMaxBackward); one
/// of these finds the row in the cache. With 32768 to 131072 logits a row an A100 takes 12 to 13 bytes a logit forward
/// (Liger-Kernel benchmark/data/all_benchmark_data.csv of release 0.2.1, cross_entropy, huggingface).
constexpr std::int64_t log_softmax_passes = 3;

/// The gradient of the negative log-likelihood is zero but for the targets, and filled in whole.
constexpr std::int64_t likelihood_passes = 1;

/// A kernel that was written for the loss, whatever runs the operations beside it.
Op& append_kernel(BlockBuilder& b, const Op& op) {
  Op& appended = b.append(op);
  appended.eager = false;
  return appended;
}

/// Log-softmax and negative log-likelihood of fp32 logits in one operation of the program.
void pass_over_logits(const BlockBuilder& b, const Value& wide, Op& op) {
  op.moved_forward = log_softmax_passes * b.size(wide.id);
  op.moved_backward = (log_softmax_passes + likelihood_passes) * b.size(wide.id);
}

/// Where tensor-parallel ranks have parts of a row each, the softmax is written out around their exchange of maximum
/// and sum: what is left of the logits without the maximum lies beside them and the result, and backward the
/// exponentials and their sum with the gradient of the likelihood (pytorch torch/distributed/tensor/parallel/loss.py,
/// _log_softmax and _nll_loss_and_log_softmax_backward). Bytes a logit: 4 more either way.
void part_softmax(const BlockBuilder& b, const Value& wide, Op& softmax) {
  if (!b.context().profile.head.parts_softmax || b.context().tp == 1) return;
  softmax.workspace_forward = softmax.workspace_backward = b.size(wide.id);
}

/// transformers loss/loss_utils.py, ForCausalLMLoss: logits.float(), then log_softmax and nll_loss, each with an fp32
/// tensor of its own, the earlier ones held by local variables. Bytes a logit: 2+4+4 forward, 4 kept, 4+4+4 backward.
void eager_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  const WideLogits logits = wide_logits(b, x, head);
  const Value& wide = logits.shifted;
  const Value log_probabilities = b.like(wide, "log-probabilities");
  Op softmax{.kind = OpKind::softmax,
             .name = "log-softmax",
             .inputs = {wide.id},
             .outputs = {log_probabilities.id},
             .saved = {log_probabilities.id}};
  softmax.held = logits.held;
  part_softmax(b, wide, softmax);
  pass_over_logits(b, wide, b.append(softmax));
  Op& likelihood =
      b.append({.kind = OpKind::loss, .name = "negative log-likelihood", .inputs = {log_probabilities.id}});
  likelihood.moved_forward = likelihood.moved_backward = bytes(0);
  hold_to_the_end(b, wide);
}

/// While the model runs, the loop's variable has the logits of the micro-batch before: until these are converted.
class LastLogits {
 public:
  LastLogits(BlockBuilder& b, const Value& logits) : b_(b) {
    const auto& c = b.context();
    const bool kept =
        c.profile.head.holds_wide_logits && c.profile.loop.keeps_last_graph && !c.profile.loop.starts_with_longest;
    if (!kept || !c.differentiates) return;
    last_ = b.value("logits of the micro-batch before", logits.rows, logits.columns, fp32_width, false).id;
    b.block().ops.back().outputs.push_back(last_);
  }
  void end() const {
    if (last_ != no_tensor) b_.block().ops.back().held.push_back(last_);
  }

 private:
  BlockBuilder& b_;
  TensorId last_ = no_tensor;
};

/// The logits of some positions at a time, all of them converted to fp32 and held by the training loop. Each part's
/// log-probabilities give way to its gradient, so both together are as large as one of them.
void split_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  const Context& c = b.context();
  const Value logits = logits_of(b, x, head);
  const LastLogits last(b, logits);
  const Value wide = b.cast(logits, fp32_width, "logits (fp32)");
  last.end();
  b.block().ops.back().passes_gradient = true;
  const Value log_probabilities = b.value("log-probabilities", wide.rows, wide.columns, wide.width, false);
  Op op{.kind = OpKind::loss,
        .name = "cross-entropy",
        .inputs = {wide.id},
        .outputs = {log_probabilities.id},
        .saved = {log_probabilities.id}};
  op.gradient_in_place = true;
  op.workspace_backward = bytes(product(c.batch, c.profile.head.positions_at_once, wide.columns, wide.width));
  pass_over_logits(b, wide, b.append(op));
  hold_to_the_end(b, wide);
}

/// A kernel that overwrites the 16-bit logits with their gradient (Liger-Kernel ops/cross_entropy.py; TransformerEngine
/// pytorch/triton/cross_entropy.py): 2 bytes a logit.
void fused_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  Op op = loss_on(logits_of(b, x, head), "cross-entropy");
  op.gradient_in_place = true;
  append_kernel(b, op);
}

/// Fused loss behind transformers' own handling of the logits: it overwrites the fp32 copy.
void fused_loss_on_wide_logits(BlockBuilder& b, const Value& x, const Matrix& head) {
  const WideLogits logits = wide_logits(b, x, head);
  Op op = loss_on(logits.shifted, "cross-entropy");
  op.gradient_in_place = true;
  op.held = logits.held;
  append_kernel(b, op);
}

/// The logits stay 16-bit; fp32 exists inside compiled kernels only (inductor). Where the compiled model returns them
/// too, nothing has a gradient for that output, and its backward is handed zeros (torch/_functorch/_aot_autograd,
/// CompiledFunction.backward).
void narrow_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  const Value logits = logits_of(b, x, head);
  Op op = loss_on(logits, "cross-entropy");
  if (b.context().profile.head.takes_zero_gradient) op.workspace_backward = b.size(logits.id);
  append_kernel(b, op);
  metrics(b, logits);
}

/// Each chunk's product has a gradient for the whole head, which is added to those before: when the second is made, one
/// chunk of the logits' gradient is gone (torchtune modules/transformer.py, chunked_output).
void add_up_by_chunks(BlockBuilder& b, std::int64_t chunk) {
  for (Op& op : b.block().ops) {
    if (op.weight == no_weight || b.block().weights[op.weight].role != Role::head) continue;
    const auto& head = b.block().weights[op.weight];
    if (!head.trainable) continue;
    op.workspace_backward += bytes(product(std::max<std::int64_t>(0, head.elements - chunk), half_width));
  }
}

/// torchtune modules/loss/ce_chunked_output_loss.py, 8 chunks: each chunk of logits gives way to its gradient.
/// Compiled, its fp32 copy stays inside the kernel and the gradient takes its storage (pytorch
/// torch/_functorch/config.py, donated_buffer); otherwise the fp32 log-probabilities of all chunks are kept.
void chunked_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  constexpr std::int64_t chunks = 8;
  const Value logits = logits_of(b, x, head);
  const std::int64_t chunk = quantity::ceil_divide(product(logits.rows, logits.columns), chunks);
  add_up_by_chunks(b, chunk);
  Op op = loss_on(logits, "cross-entropy");
  op.gradient_in_place = true;
  if (!b.context().training.compile) {
    const Value kept = b.value("log-probabilities", logits.rows, logits.columns, fp32_width, false);
    op.outputs = {kept.id};
    op.saved = {kept.id};
    op.workspace_forward = bytes(product(chunk, fp32_width));
    op.workspace_backward = bytes(product(chunk, 2 * fp32_width));
  }
  Op& appended = b.append(op);
  if (b.context().training.compile) return;
  const auto cast = bytes(product(logits.rows, logits.columns, logits.width + fp32_width));
  const auto pass = bytes(product(logits.rows, logits.columns, fp32_width));
  appended.moved_forward = cast + log_softmax_passes * pass;
  appended.moved_backward = cast + (log_softmax_passes + likelihood_passes) * pass;
}

/// The standard loss as each framework writes it.
void standard_loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  const auto& profile = b.context().profile;
  if (profile.head.fuses_loss) return fused_loss(b, x, head);
  if (!profile.head.eager_loss) return in_place_loss(b, x, head, false);
  if (profile.head.narrow_loss_kernel) return narrow_loss(b, x, head);
  if (profile.head.positions_at_once > 0) return split_loss(b, x, head);
  return eager_loss(b, x, head);
}

}  // namespace

void loss(BlockBuilder& b, const Value& x, const Matrix& head) {
  const Context& c = b.context();
  switch (c.training.loss) {
    case spec::Loss::fused:
      return c.profile.head.eager_loss ? fused_loss_on_wide_logits(b, x, head) : fused_loss(b, x, head);
    case spec::Loss::te_fused: return fused_loss(b, x, head);
    case spec::Loss::fused_linear:
      return c.profile.head.makes_tiles_again ? tiled_loss(b, x, head) : fused_linear_loss(b, x, head);
    case spec::Loss::cut: return cut_loss(b, x, head);
    case spec::Loss::chunked: return chunked_loss(b, x, head);
    case spec::Loss::compiled: return narrow_loss(b, x, head);
    case spec::Loss::standard: return standard_loss(b, x, head);
    case spec::Loss::vocab_parallel: return in_place_loss(b, x, head, false);
    case spec::Loss::vocab_parallel_fused: return in_place_loss(b, x, head, true);
  }
}

}  // namespace llmcalc::layers
