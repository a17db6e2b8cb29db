// A Llama-like shape of a given size, for people who know nothing but the number of parameters.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::spec {

/// The smallest size that makes a model: one layer of 128 with a vocabulary of some thousands.
inline constexpr std::int64_t fewest_assumed = 1'000'000;

/// Dimensions that somebody knows beside the size.
struct KnownDimensions {
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> hidden;
};

/// The shape whose layers are nearest to 128 times as wide as they are many, and whose count is nearest to `size`.
///
/// The published Llamas keep hidden / layers at 128 (7B 4096/32, 13B 5120/40: arXiv:2302.13971 table 2; 405B
/// 16384/126: arXiv:2407.21783 table 3), heads of 128, an MLP of 8h/3 rounded up to 256, and a vocabulary of 32,000.
/// From 30B on keys and values have 8 heads (Llama 2 34B and 70B: arXiv:2307.09288 table 1); below, as many as queries.
Shape assumed_shape(quantity::Parameters size, const KnownDimensions& known = {});

/// Which dimensions may still move.
struct FreeDimensions {
  bool layers = true;
  bool ffn = true;
  bool vocab = true;
};

/// Brings an assumed shape, of which a person may have changed dimensions, to at most `size`, and as close to it as an
/// MLP in steps of 64 comes.
void fit_to_size(quantity::Parameters size, const FreeDimensions& free, Shape& shape);

/// Parameters that such a shape counts: 2Vh + L(2hq + 2hk + 3hf + 2h) + h with q and k the widths of queries and keys;
/// a plain MLP has two matrices instead of three, and tied tables count once.
quantity::Parameters count_assumed(const Shape& shape);

}  // namespace llmcalc::spec
