#include "spec/assumed_shape.hpp"

#include "llmcalc/spec/model.hpp"
#include "quantity/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace llmcalc::spec {
namespace {

using quantity::checked_add;
using quantity::checked_subtract;
using quantity::product;

constexpr std::int64_t head_dim = 128;
constexpr std::int64_t vocab = 32'000;
constexpr std::int64_t ffn_multiple = 256;
constexpr std::int64_t finest_ffn = 64;  // rows of a tile that tensor cores still fill
constexpr std::int64_t grouped_kv_heads = 8;
constexpr std::int64_t grouped_from = 30'000'000'000;
constexpr double aspect = 128.0;
constexpr std::int64_t widest_hidden = 262'144;  // enough for 1e15 parameters: (128/12 · 1e15)^(1/3) is 220,000

/// Parameters of a layer for each unit of width of its MLP.
std::int64_t of_ffn_column(const Shape& shape) { return (is_gated(shape.mlp) ? 3 : 2) * shape.hidden; }

std::int64_t layer_parameters(const Shape& shape) {
  const auto h = shape.hidden;
  const auto attention = product(2, h, shape.heads + shape.kv_heads, shape.head_dim);
  return checked_add(attention, checked_add(product(of_ffn_column(shape), shape.ffn), 2 * h));
}

std::int64_t of_token(const Shape& shape) { return (shape.tied ? 1 : 2) * shape.hidden; }

std::int64_t outer_parameters(const Shape& shape) {
  return checked_add(product(shape.vocab, of_token(shape)), shape.hidden);
}

std::int64_t count(const Shape& shape) {
  return checked_add(outer_parameters(shape), product(shape.layers, layer_parameters(shape)));
}

std::int64_t nearest_layers(const Shape& shape, std::int64_t size) {
  const auto layers =
      static_cast<double>(size - outer_parameters(shape)) / static_cast<double>(layer_parameters(shape));
  return std::max<std::int64_t>(1, std::llround(layers));
}

/// As many heads of about 128 as divide the width.
std::int64_t heads_of(std::int64_t hidden) {
  auto heads = std::max<std::int64_t>(1, hidden / head_dim);
  while (hidden % heads != 0) --heads;
  return heads;
}

Shape shape_of_width(std::int64_t hidden, std::int64_t size, const KnownDimensions& known) {
  Shape shape;
  shape.hidden = hidden;
  shape.heads = heads_of(hidden);
  shape.head_dim = hidden / shape.heads;
  shape.kv_heads = size < grouped_from || shape.heads % grouped_kv_heads != 0 ? shape.heads : grouped_kv_heads;
  shape.ffn = quantity::ceil_to(quantity::ceil_divide(8 * hidden, 3), ffn_multiple);
  shape.vocab = vocab;
  shape.layers = known.layers.value_or(nearest_layers(shape, size));
  return shape;
}

/// How far the shape is from 128 times as wide as deep, in either direction; how far from its size, where its depth is
/// known.
double distance(const Shape& shape, std::int64_t size, const KnownDimensions& known) {
  if (known.layers) return std::abs(quantity::log(static_cast<double>(count(shape)) / static_cast<double>(size)));
  return std::abs(quantity::log(static_cast<double>(shape.hidden) / static_cast<double>(shape.layers) / aspect));
}

/// The most that a number of layers leaves for each MLP.
std::int64_t widest_ffn(const Shape& shape, std::int64_t size) {
  const std::int64_t without = layer_parameters(shape) - product(of_ffn_column(shape), shape.ffn);
  const std::int64_t room = checked_subtract(size - outer_parameters(shape), product(shape.layers, without));
  return room / product(shape.layers, of_ffn_column(shape)) / finest_ffn * finest_ffn;
}

}  // namespace

Shape assumed_shape(quantity::Parameters parameters, const KnownDimensions& known) {
  const auto size = quantity::in_parameters(parameters);
  const auto step = size < grouped_from ? head_dim : head_dim * grouped_kv_heads;
  Shape best = shape_of_width(known.hidden.value_or(step), size, known);
  double least = distance(best, size, known);
  for (auto hidden = 2 * step; !known.hidden && hidden <= widest_hidden; hidden += step) {
    Shape shape = shape_of_width(hidden, size, known);
    if (checked_add(outer_parameters(shape), layer_parameters(shape) / 2) > size) break;  // not even one layer is left
    const double far = distance(shape, size, known);
    if (far < least) std::tie(best, least) = std::pair(std::move(shape), far);
  }
  best.name = "assumed";
  fit_to_size(parameters, {.layers = !known.layers}, best);
  return best;
}

void fit_to_size(quantity::Parameters parameters, const FreeDimensions& free, Shape& shape) {
  const auto size = quantity::in_parameters(parameters);
  const std::int64_t inner = checked_add(layer_parameters(shape), shape.hidden);
  if (free.vocab && checked_add(product(shape.vocab, of_token(shape)), inner) > size) {
    shape.vocab = std::max<std::int64_t>(1, (size - inner) / of_token(shape));
  }
  if (free.layers) shape.layers = nearest_layers(shape, size);
  const std::int64_t least = free.ffn ? finest_ffn : shape.ffn;
  while (free.layers && shape.layers > 1 && widest_ffn(shape, size) < least) --shape.layers;
  if (free.ffn) shape.ffn = std::max(finest_ffn, widest_ffn(shape, size));
}

quantity::Parameters count_assumed(const Shape& shape) { return quantity::parameters(count(shape)); }

}  // namespace llmcalc::spec
