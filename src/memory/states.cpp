#include "llmcalc/memory/states.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::bytes;
using quantity::Bytes;
using quantity::ceil_divide;
using quantity::product;
using spec::Optimizer;

namespace {

constexpr std::int64_t fp32_width = 4;

/// A moment kept in quantized blocks: `elements_per_byte` elements a byte and one fp32 scale a block, for tensors of at
/// least `smallest` elements; smaller ones stay in fp32.
struct BlockwiseMoment {
  std::int64_t block;
  std::int64_t elements_per_byte;
  bool whole_blocks_only;
};
constexpr BlockwiseMoment bitsandbytes_8bit{256, 1, false};
constexpr BlockwiseMoment torchao_4bit{128, 2, true};
constexpr std::int64_t smallest_quantized = 4096;

Bytes blockwise(std::int64_t n, const BlockwiseMoment& format) {
  if (n < smallest_quantized || (format.whole_blocks_only && n % format.block != 0)) return bytes(product(n, fp32_width));
  return bytes(ceil_divide(n, format.elements_per_byte) + product(fp32_width, ceil_divide(n, format.block)));
}

bool is_matrix(const program::Weight& w) { return w.rows > 1 && w.columns > 1; }

std::int64_t matrices(const program::Weight& w) { return w.elements / product(w.rows, w.columns); }

Bytes factored(const program::Weight& w) {
  if (!is_matrix(w)) return bytes(product(w.elements, fp32_width));
  return bytes(product(fp32_width, w.rows + w.columns, matrices(w)));
}

Bytes low_rank(const program::Weight& w, std::int64_t rank) {
  const std::int64_t shorter = std::min(w.rows, w.columns);
  const std::int64_t longer = std::max(w.rows, w.columns);
  const std::int64_t r = std::min(rank, shorter);
  const Bytes moments = 2 * blockwise(product(r, longer), bitsandbytes_8bit);
  return matrices(w) * (moments + bytes(product(fp32_width, shorter, r)));
}

}  // namespace

Bytes optimizer_bytes(const program::Weight& w, const spec::Training& training) {
  const Bytes moment = spec::storage_bytes(training.precision.moments, w.elements);
  switch (training.optimizer) {
    case Optimizer::none:
    case Optimizer::sgd: return bytes(0);
    case Optimizer::sgd_momentum:
    case Optimizer::lion: return moment;
    case Optimizer::adamw:
    case Optimizer::paged_adamw: return 2 * moment;
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit: return 2 * blockwise(w.elements, bitsandbytes_8bit);
    case Optimizer::adamw_4bit: return 2 * blockwise(w.elements, torchao_4bit);
    case Optimizer::adafactor: return factored(w);
    case Optimizer::muon: return is_matrix(w) && !w.table ? moment : 2 * moment;
    case Optimizer::galore_adamw_8bit:
      return is_matrix(w) && !w.table ? low_rank(w, training.adapter.rank) : 2 * blockwise(w.elements, bitsandbytes_8bit);
  }
  return bytes(0);
}

namespace {

Bytes share(Bytes whole, std::int64_t shards) { return bytes(ceil_divide(quantity::in_bytes(whole), shards)); }

/// Of a quantized weight only the codes are parameters that sharding sees; its scales are attributes or buffers of the
/// module and stay whole on every rank (bitsandbytes nn/modules.py, Params4bit.quant_state; AutoGPTQ's scales, qzeros).
Bytes weight_bytes(const program::Weight& w, std::int64_t shards) {
  const Bytes stored = spec::storage_bytes(w.dtype, w.elements);
  const Bytes codes = bytes(ceil_divide(product(w.elements, spec::facts(w.dtype).bits), 8));
  return share(codes, shards) + (stored - codes);
}

}  // namespace

States weight_states(const program::Weight& w, const spec::Training& training, const Sharding& sharding) {
  const auto& precision = training.precision;
  const Shards& shards = sharding.of(w.split);
  States states;
  if (w.shared) return states;
  states.weights = weight_bytes(w, shards.weights);
  if (!w.trainable) return states;
  if (precision.master) states.master = share(bytes(product(w.elements, fp32_width)), shards.optimizer);
  states.gradients = share(spec::storage_bytes(precision.grads, w.elements), shards.gradients);
  if (precision.grad_copy) states.gradients += share(bytes(product(w.elements, fp32_width)), shards.optimizer);
  states.optimizer = share(optimizer_bytes(w, training), shards.optimizer);
  states.moment_temporaries = share(spec::storage_bytes(precision.moments, w.elements), shards.optimizer);
  return states;
}

States block_states(const program::Block& block, const spec::Training& training, const Sharding& sharding) {
  States sum;
  for (const program::Weight& w : block.weights) sum += weight_states(w, training, sharding);
  return sum;
}

States& States::operator+=(const States& other) {
  weights += other.weights;
  master += other.master;
  gradients += other.gradients;
  optimizer += other.optimizer;
  moment_temporaries += other.moment_temporaries;
  return *this;
}

States operator*(States s, std::int64_t times) {
  return {s.weights * times, s.master * times, s.gradients * times, s.optimizer * times, s.moment_temporaries * times};
}

}  // namespace llmcalc::memory
