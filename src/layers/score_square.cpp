#include "layers/inner/core_attention.hpp"

#include <algorithm>

namespace llmcalc::layers {

using quantity::product;

namespace {

/// Of n queries behind p cached positions the i-th sees p + i of them, or the last w where a window is narrower.
double share_behind_cache(const Context& c, const CoreAttention& core) {
  const auto n = static_cast<double>(c.seq);
  const auto p = static_cast<double>(c.attended - c.seq);
  const auto w = core.window == 0 ? p + n : static_cast<double>(core.window);
  const double growing = std::clamp(w - p, 0.0, n);  // queries that still see everything
  const double pairs = growing * (p + (growing + 1.0) / 2.0) + (n - growing) * w;
  return pairs / (n * (p + n));
}

}  // namespace

std::int64_t seen(const Context& c, const CoreAttention& core) {
  if (core.block > 0) return 3 * core.block;
  return core.keys > 0 ? core.keys : c.attended;
}

double unmasked_share(const Context& c, const CoreAttention& core) {
  if (core.keys > 0 || core.block > 0) return 1.0;
  if (core.causal && c.training.cached > 0) return share_behind_cache(c, core);
  const std::int64_t seq = c.attended - c.prefix;
  const std::int64_t documents = c.training.document_length;
  const std::int64_t longest = documents == 0 ? seq : std::min(documents, seq);
  const auto s = static_cast<double>(seq);
  const auto d = static_cast<double>(longest);
  const auto prefix = static_cast<double>(c.prefix);
  if (!core.causal) return (prefix + d) / (prefix + s);
  const auto w = static_cast<double>(core.window == 0 ? longest : std::min(core.window, longest));
  return (prefix + w * (1.0 - (w - 1.0) / (2.0 * d))) / (prefix + s);
}

double square_flops(const Context& c, const CoreAttention& core) {
  return 2.0 * static_cast<double>(product(c.batch, core.positions)) * static_cast<double>(seen(c, core)) *
         static_cast<double>(core.heads) * static_cast<double>(core.qk_dim + core.v_dim);
}

Product per_head(const Context& c, const CoreAttention& core) {
  return {core.positions, seen(c, core), core.qk_dim, product(c.batch, core.heads)};
}

}  // namespace llmcalc::layers
