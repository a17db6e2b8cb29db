#include "read/assumed_shape.hpp"

#include <cmath>
#include <cstdint>

namespace llmcalc::read {
namespace {

constexpr std::int64_t head_dim = 128;
constexpr std::int64_t vocab = 32'000;
constexpr std::int64_t ffn_multiple = 256;
constexpr std::int64_t grouped_kv_heads = 8;
constexpr std::int64_t grouped_from = 30'000'000'000;
constexpr double aspect = 128.0;
constexpr std::int64_t widest = 262'144;  // enough for 1e15 parameters: (128/12 · 1e15)^(1/3) is 220,000

std::int64_t layer_parameters(const spec::Shape& shape) {
  const auto h = shape.hidden;
  return 2 * h * h + 2 * h * shape.kv_heads * shape.head_dim + 3 * h * shape.ffn + 2 * h;
}

std::int64_t outer_parameters(const spec::Shape& shape) { return 2 * shape.vocab * shape.hidden + shape.hidden; }

spec::Shape shape_of_width(std::int64_t hidden, std::int64_t size) {
  spec::Shape shape;
  shape.hidden = hidden;
  shape.heads = hidden / head_dim;
  shape.head_dim = head_dim;
  shape.kv_heads = size < grouped_from ? shape.heads : grouped_kv_heads;
  shape.ffn = quantity::ceil_to(quantity::ceil_divide(8 * hidden, 3), ffn_multiple);
  shape.vocab = vocab;
  const auto layers =
      static_cast<double>(size - outer_parameters(shape)) / static_cast<double>(layer_parameters(shape));
  shape.layers = std::max<std::int64_t>(1, std::llround(layers));
  return shape;
}

/// How far the shape is from 128 times as wide as deep, in either direction.
double distance(const spec::Shape& shape) {
  return std::abs(std::log(static_cast<double>(shape.hidden) / static_cast<double>(shape.layers) / aspect));
}

}  // namespace

spec::Shape assumed_shape(quantity::Parameters size) {
  const auto count = quantity::in_parameters(size);
  const auto step = count < grouped_from ? head_dim : head_dim * grouped_kv_heads;
  spec::Shape best = shape_of_width(step, count);
  for (auto hidden = 2 * step; hidden <= widest; hidden += step) {
    const spec::Shape shape = shape_of_width(hidden, count);
    if (outer_parameters(shape) + layer_parameters(shape) / 2 > count) break;  // not even one layer is left
    if (distance(shape) < distance(best)) best = shape;
  }
  best.name = "assumed";
  return best;
}

quantity::Parameters count_assumed(const spec::Shape& shape) {
  return quantity::parameters(outer_parameters(shape) + shape.layers * layer_parameters(shape));
}

}  // namespace llmcalc::read
