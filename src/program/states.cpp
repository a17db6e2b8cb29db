#include "program/states.hpp"

#include "frameworks/table.hpp"
#include "layers/widths.hpp"
#include "program/cuda_blocks.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::program {

using quantity::Bytes;
using quantity::bytes;
using quantity::ceil_divide;
using quantity::ceil_to;
using quantity::in_bytes;
using quantity::product;

namespace {

/// Rest of a block, which is split off if it is more than `small_size`, or in a segment of small blocks.
std::int64_t slack_alone(std::int64_t size) {
  const std::int64_t block = round_size(size);
  const std::int64_t left = ceil_to(block, segment_unit) - size;
  return is_small(block) || left > small_size ? block - size : left;
}

/// Tensors of s bytes on average fill a segment of B bytes one after the other, B/s of them. What the last one leaves
/// is any of the s/g multiples of the sizes' granule g below s, and counted with it where it is no more than
/// `small_size` m. The sum of the first m/g multiples over s/g and over B/s is m(m + g)/2B a tensor, whatever its size.
constexpr std::int64_t shared_slack = small_size / 2 * small_size / shared_segment;  // where g is next to nothing

}  // namespace

AllocatorSlack::AllocatorSlack(Bytes tensor, std::int64_t tensors, std::int64_t shards) {
  const std::int64_t size = in_bytes(tensor);
  if (size > small_size && size < own_segment) {
    shared_ = ceil_divide(product(tensors, shared_slack), shards);
    granule_ = shards == 1 ? std::max(size & -size, smallest_block) : smallest_block;
  } else {
    own_ = ceil_divide(product(tensors, slack_alone(size)), shards);
  }
}

Bytes AllocatorSlack::total() const {
  if (granule_ > small_size) return bytes(own_);
  return bytes(own_ + product(shared_, small_size + granule_) / small_size);
}

using spec::Optimizer;

namespace {

bool is_matrix(const layers::Weight& w) { return w.rows > 1 && w.columns > 1; }

/// A weight of several experts is so many matrices.
std::int64_t matrices(const layers::Weight& w) { return w.elements / product(w.rows, w.columns); }

std::int64_t shorter_side(const layers::Weight& w) { return std::min(w.rows, w.columns); }
std::int64_t longer_side(const layers::Weight& w) { return std::max(w.rows, w.columns); }

/// A moment kept in quantized blocks: `elements_per_byte` elements a byte and one fp32 scale a block. Tensors of less
/// than `smallest_quantized` elements, and of some formats those that are no whole blocks, stay in fp32.
struct BlockwiseMoment {
  std::int64_t block;
  std::int64_t elements_per_byte;
  bool whole_blocks_only;
};

/// bitsandbytes optim/optimizer.py, Optimizer2State.init_state: one fp32 absmax per 256 elements and state; per 2,048
/// before release 0.44 of September 2024, which takes 1.4 % less.
constexpr BlockwiseMoment bitsandbytes_8bit{256, 1, false};
/// torchao optim/subclass_8bit.py and subclass_4bit.py: an fp32 scale per 256 and 128, for tensors of whole blocks.
constexpr BlockwiseMoment torchao_8bit{256, 1, true};
constexpr BlockwiseMoment torchao_4bit{128, 2, true};
/// bitsandbytes optim/optimizer.py, min_8bit_size; torchao optim/adam.py, _new_buffer.
constexpr std::int64_t smallest_quantized = 4096;

Bytes blockwise(std::int64_t n, const BlockwiseMoment& format) {
  const bool stays_wide = n < smallest_quantized || (format.whole_blocks_only && n % format.block != 0);
  if (stays_wide) return bytes(product(n, layers::fp32_width));
  return bytes(ceil_divide(n, format.elements_per_byte) + product(layers::fp32_width, ceil_divide(n, format.block)));
}

/// Two moments, both quantized where bitsandbytes has them.
Bytes adam_8bit(const layers::Weight& w, const spec::Training& training) {
  const bool embeds = w.table && w.role != layers::Role::head;
  const bool widened = embeds && frameworks::widens_embedding_moments(training);
  return 2 * (widened ? bytes(product(w.elements, layers::fp32_width)) : blockwise(w.elements, bitsandbytes_8bit));
}

/// A row and a column vector in fp32 a matrix (Shazeer & Stern 2018, arXiv:1804.04235 section 3); AdaLomo keeps the
/// same second moment (Lv et al. 2023, arXiv:2310.10195 section 3.2).
Bytes factored(const layers::Weight& w) {
  if (!is_matrix(w)) return bytes(product(w.elements, layers::fp32_width));
  return bytes(product(layers::fp32_width, w.rows + w.columns, matrices(w)));
}

/// Two 8-bit moments of rank x the longer side and a projector of the shorter side x rank (Zhao et al. 2024,
/// arXiv:2403.03507 section 4.2). The projector has the gradient's type; of fp32 gradients it is a slice of the whole
/// square of singular vectors, which stays with it (galore_torch/galore_projector.py, get_orthogonal_matrix).
Bytes galore(const layers::Weight& w, const spec::Training& training) {
  const std::int64_t side = shorter_side(w);
  const std::int64_t r = std::min(training.optimizer_rank, side);
  const formats::Dtype grads = training.precision.grads;
  const Bytes projector = formats::storage_bytes(grads, product(side, grads == formats::Dtype::fp32 ? side : r));
  return matrices(w) * (2 * blockwise(product(r, longer_side(w)), bitsandbytes_8bit) + projector);
}

/// Two moments of rank x the longer side (Zhu et al. 2024, arXiv:2412.05270 table 1: 2nr + 2, of which the last two are
/// numbers of the host), and the random projector in the gradient's type where it is kept.
Bytes apollo(const layers::Weight& w, const spec::Training& training, std::int64_t rank) {
  const std::int64_t r = std::min(rank, shorter_side(w));
  const Bytes moments = 2 * formats::storage_bytes(training.precision.moments, product(r, longer_side(w)));
  if (!frameworks::keeps_random_projector(training)) return matrices(w) * moments;
  return matrices(w) * (moments + formats::storage_bytes(training.precision.grads, product(r, shorter_side(w))));
}

/// The sum of the squares of a side cut into blocks.
std::int64_t squares(std::int64_t side, std::int64_t block) {
  return product(side / block, block, block) + product(side % block, side % block);
}

/// A factor and its inverse root for each side of each block of at most 1,024 x 1,024 (Gupta et al. 2018,
/// arXiv:1802.09568 algorithm 1; block size: facebookresearch/optimizers distributed_shampoo, max_preconditioner_dim).
Bytes shampoo_factors(const layers::Weight& w) {
  constexpr std::int64_t block = 1024;
  if (!is_matrix(w)) return bytes(product(2, layers::fp32_width, squares(w.elements, block)));
  const std::int64_t left = product(ceil_divide(w.columns, block), squares(w.rows, block));
  const std::int64_t right = product(ceil_divide(w.rows, block), squares(w.columns, block));
  return bytes(product(2, layers::fp32_width, left + right, matrices(w)));
}

/// A factor and its eigenvectors for each side of a matrix that is no longer than 10,000; vectors have none (Vyas et
/// al. 2024, arXiv:2409.11321 algorithm 3; soap.py, init_preconditioner).
Bytes soap_factors(const layers::Weight& w) {
  constexpr std::int64_t longest = 10000;
  if (!is_matrix(w)) return bytes(0);
  std::int64_t elements = 0;
  for (const std::int64_t side : {w.rows, w.columns}) elements += side <= longest ? product(side, side) : 0;
  return bytes(product(2, layers::fp32_width, elements, matrices(w)));
}

}  // namespace

bool is_hidden_matrix(const layers::Weight& w) { return is_matrix(w) && !w.table; }

/// AdamW and LAMB: two moments (Kingma & Ba 2015; You et al. 2020, arXiv:1904.00962 algorithm 2). Lion, Adagrad and
/// SGD with momentum: one. Muon: one momentum for hidden matrices (Jordan 2024). Shampoo: beside its factors a filtered
/// gradient and the second moment of the grafted method; SOAP: AdamW's moments in the eigenbasis.
Bytes optimizer_bytes(const layers::Weight& w, const spec::Training& training) {
  const Bytes moment = formats::storage_bytes(training.precision.moments, w.elements);
  switch (training.optimizer) {
    case Optimizer::none:
    case Optimizer::sgd:
    case Optimizer::lomo: return bytes(0);
    case Optimizer::sgd_momentum:
    case Optimizer::adagrad:
    case Optimizer::lion: return moment;
    case Optimizer::adamw:
    case Optimizer::lamb:
    case Optimizer::paged_adamw: return 2 * moment;
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit: return adam_8bit(w, training);
    case Optimizer::adamw_8bit_torchao: return 2 * blockwise(w.elements, torchao_8bit);
    case Optimizer::adamw_4bit: return 2 * blockwise(w.elements, torchao_4bit);
    case Optimizer::adafactor:
    case Optimizer::adalomo: return factored(w);
    case Optimizer::muon: return is_hidden_matrix(w) ? moment : 2 * moment;
    case Optimizer::shampoo: return 2 * moment + shampoo_factors(w);
    case Optimizer::soap: return 2 * moment + soap_factors(w);
    case Optimizer::galore_adamw_8bit:
      return is_hidden_matrix(w) ? galore(w, training) : 2 * blockwise(w.elements, bitsandbytes_8bit);
    case Optimizer::apollo: return is_hidden_matrix(w) ? apollo(w, training, training.optimizer_rank) : 2 * moment;
    case Optimizer::apollo_mini: return is_hidden_matrix(w) ? apollo(w, training, 1) : 2 * moment;
  }
  return bytes(0);
}

namespace {

/// The Newton-Schulz iteration on m x k with m <= k holds X, aX and BX, and the m x m matrices XX' and its polynomial,
/// in bf16 (Jordan 2024, github.com/KellerJordan/Muon, zeropower_via_newtonschulz5).
Bytes newton_schulz(const layers::Weight& w) {
  const std::int64_t m = shorter_side(w);
  return bytes(product(layers::half_width, 3 * product(m, longer_side(w)) + 2 * product(m, m)));
}

/// Square and update of a tensor, both fp32, beside fp32 copies of a gradient and a weight that are narrower
/// (transformers optimization.py, Adafactor.step).
Bytes adafactor_scratch(const layers::Weight& w, const spec::Training& training) {
  const auto is_narrow = [](formats::Dtype type) { return type != formats::Dtype::fp32; };
  const std::int64_t copies = 2 + (is_narrow(training.precision.grads) ? 1 : 0) + (is_narrow(w.dtype) ? 1 : 0);
  return bytes(product(copies, w.elements, layers::fp32_width));
}

}  // namespace

Bytes update_scratch(const layers::Weight& w, const spec::Training& training) {
  switch (training.optimizer) {
    case Optimizer::muon: return is_hidden_matrix(w) ? newton_schulz(w) : bytes(0);
    case Optimizer::galore_adamw_8bit:
    case Optimizer::apollo:
    case Optimizer::apollo_mini:  // the update at full size: galore_projector.py, project_back; apollo.py, scaled_grad
      return is_hidden_matrix(w) ? formats::storage_bytes(training.precision.grads, product(w.rows, w.columns))
                                 : bytes(0);
    case Optimizer::adafactor: return adafactor_scratch(w, training);
    case Optimizer::adamw:  // root of the second moment and its quotient: torch/optim/adamw.py, _single_tensor_adamw
      return training.optimizer_impl == spec::OptimizerImpl::loop
                 ? 2 * formats::storage_bytes(training.precision.moments, w.elements)
                 : bytes(0);
    default: return bytes(0);
  }
}

namespace {

/// bitsandbytes optim/optimizer.py, get_state_buffer.
bool is_paged(const layers::Weight& w, Optimizer optimizer) {
  constexpr std::int64_t smallest_paged = 100'000;
  return spec::is_paged(optimizer) && w.elements >= smallest_paged;
}

Shards shards(spec::Sharding kind, std::int64_t group) {
  const int stage = spec::zero_stage(kind);
  return {stage > 2 ? group : 1, stage > 1 ? group : 1, stage > 0 ? group : 1};
}

/// HSDP without a stated group shards within the node.
std::int64_t group_of(const spec::Layout& layout, std::int64_t replicas) {
  if (layout.sharding_group > 0) return std::min(layout.sharding_group, replicas);
  if (layout.sharding == spec::Sharding::hsdp) return std::max<std::int64_t>(1, replicas / layout.nodes);
  return replicas;
}

/// Megatron-LM's optimizer instances are as many for experts as for all else (core/parallel_state.py,
/// intra_partial_expert_dp: the expert replicas over num_distributed_optimizer_instances).
std::int64_t expert_group(const spec::Layout& layout, std::int64_t replicas, std::int64_t expert_replicas) {
  const bool in_instances = layout.sharding == spec::Sharding::zero1 || layout.sharding == spec::Sharding::zero2;
  if (!in_instances) return group_of(layout, expert_replicas);
  const std::int64_t instances = replicas / group_of(layout, replicas);
  return std::max<std::int64_t>(1, expert_replicas / instances);
}

}  // namespace

StateSharding::StateSharding(const spec::Layout& layout) {
  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t expert_replicas = std::max<std::int64_t>(1, replicas * layout.tp / (layout.ep * layout.etp));
  dense_ = shards(layout.sharding, group_of(layout, replicas));
  expert_ = shards(layout.sharding, expert_group(layout, replicas, expert_replicas));
  const bool shards_weights = dense_.weights > 1;
  gathers_once_ = shards_weights && layout.sharding == spec::Sharding::fsdp2 && layout.pp > 1;
  gathers_ = shards_weights && !gathers_once_;
  shards_gradients_ = spec::zero_stage(layout.sharding) > 1;
  buckets_ = layout.sharding == spec::Sharding::ddp && replicas > 1;
}

namespace {

Bytes share(Bytes whole, std::int64_t shards) { return bytes(ceil_divide(quantity::in_bytes(whole), shards)); }

/// Transformer Engine's layers keep 8- and 4-bit copies of each weight for their products; of a weight gathered from
/// shards nothing is kept (TransformerEngine pytorch/module/base.py, get_weight_workspace).
Bytes product_copies(const layers::Weight& w, std::int64_t shards) {
  return shards > 1 ? bytes(0) : w.copies * formats::storage_bytes(w.copy_type, w.elements);
}

Bytes code_bytes(const layers::Weight& w) {
  return bytes(ceil_divide(product(w.elements, formats::facts(w.dtype).bits), 8));
}

/// Codes are all of a quantized weight that sharding sees as parameters; its scales are attributes or buffers of the
/// module and stay whole on every rank (bitsandbytes nn/modules.py, Params4bit.quant_state; AutoGPTQ's scales, qzeros).
/// torchao's are parts of the tensor (torchao/dtypes/nf4tensor.py, fsdp_pre_all_gather).
Bytes weight_bytes(const layers::Weight& w, std::int64_t shards) {
  const Bytes stored = formats::storage_bytes(w.dtype, w.elements);
  if (w.shards_scales) return w.layouts * share(stored, shards) + product_copies(w, shards);
  const Bytes codes = code_bytes(w);
  return w.layouts * (share(codes, shards) + (stored - codes)) + product_copies(w, shards);
}

/// Transformer Engine's FusedAdam, store_param_remainders: bf16 weights are the high half of their fp32 masters.
constexpr std::int64_t remainder_width = 2;

Bytes master_bytes(const layers::Weight& w, const spec::Precision& precision) {
  if (!precision.master) return bytes(0);
  if (precision.master_remainder) return bytes(product(w.elements, remainder_width));
  return formats::storage_bytes(precision.master_type, w.elements);
}

/// AdaLoRA weighs its parameters: a sensitivity each, and running means of it and of its uncertainty (Zhang et al.
/// 2023, arXiv:2303.10512 eqs. 8 to 10; peft tuners/adalora/layer.py, RankAllocator.update_ipt).
Bytes importance_scores(const layers::Weight& w, const spec::Training& training) {
  return training.method == spec::Method::adalora ? bytes(product(3, w.elements, layers::fp32_width)) : bytes(0);
}

bool widens_gradients(const spec::Precision& precision) {
  const bool reads_wide = precision.master && precision.master_type == formats::Dtype::fp32;
  return reads_wide && !precision.grad_copy && precision.grads != formats::Dtype::fp32;
}

AllocatorSlack slack_of(const layers::Weight& w, Bytes all, std::int64_t shards) {
  const std::int64_t tensors = tensors_of(w);
  return {bytes(quantity::in_bytes(all) / tensors), tensors, shards};
}

/// Sharded states are slices of whole tensors (Megatron-LM core/optimizer/distrib_optimizer.py,
/// _build_model_and_main_param_groups), and the weights beside them lie in one buffer (core/distributed/
/// param_and_grad_buffer.py).
void add_slack(const layers::Weight& w, const spec::Precision& precision, std::int64_t shards, States& states) {
  if (shards == 1) states.slack.add(slack_of(w, code_bytes(w), 1), 1);
  if (!w.trainable) return;
  if (precision.master) states.slack.add(slack_of(w, master_bytes(w, precision), shards), 1);
  const Bytes moment = formats::storage_bytes(precision.moments, w.elements);
  if (moment == bytes(0)) return;
  const std::int64_t moments = product(quantity::in_bytes(states.optimizer), shards) / quantity::in_bytes(moment);
  states.moment_slack.add(slack_of(w, moment, shards), moments);
}

}  // namespace

std::int64_t tensors_of(const layers::Weight& w) {
  if (w.stacked) return 1;
  const std::int64_t of_one = product(w.rows, w.columns);
  return of_one == 0 ? 1 : std::max<std::int64_t>(1, w.elements / of_one);
}

States weight_states(const layers::Weight& w, const spec::Training& training, const StateSharding& sharding) {
  const auto& precision = training.precision;
  const Shards& shards = sharding.of(w.split);
  States states;
  if (w.shared) return states;
  (w.adapter ? states.adapters : states.weights) = weight_bytes(w, shards.weights);
  if (!w.trainable) return states;
  const Bytes wide = bytes(product(w.elements, layers::fp32_width));
  states.master = share(master_bytes(w, precision), shards.optimizer);
  states.gradients = share(formats::storage_bytes(precision.grads, w.elements), shards.gradients);
  if (precision.grad_copy) states.wide_gradients = share(wide, shards.optimizer);
  states.gradients += states.wide_gradients;
  (is_paged(w, training.optimizer) ? states.paged : states.optimizer) =
      share(optimizer_bytes(w, training), shards.optimizer);
  states.optimizer += share(importance_scores(w, training), shards.weights);
  states.moment_temporaries = share(formats::storage_bytes(precision.moments, w.elements), shards.optimizer);
  if (widens_gradients(precision)) states.gradient_copies = share(wide, shards.optimizer);
  states.update_scratch = update_scratch(w, training);
  return states;
}

States block_states(const layers::Block& block, const spec::Training& training, const StateSharding& sharding) {
  States sum;
  for (const layers::Weight& w : block.weights) {
    States states = weight_states(w, training, sharding);
    if (!w.shared) add_slack(w, training.precision, sharding.of(w.split).optimizer, states);
    sum += states;
  }
  return sum;
}

States& States::add(const States& other, std::int64_t count) {
  weights += count * other.weights;
  adapters += count * other.adapters;
  master += count * other.master;
  gradients += count * other.gradients;
  wide_gradients += count * other.wide_gradients;
  optimizer += count * other.optimizer;
  paged += count * other.paged;
  moment_temporaries += count * other.moment_temporaries;
  gradient_copies += count * other.gradient_copies;
  slack.add(other.slack, count);
  moment_slack.add(other.moment_slack, count);
  update_scratch = std::max(update_scratch, other.update_scratch);
  return *this;
}

}  // namespace llmcalc::program
