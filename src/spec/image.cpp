#include "spec/image.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "spec/inner/image_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::spec {
namespace {

using quantity::ceil_divide;

double floor_to(double pixels, double factor) { return std::max(factor, std::floor(pixels / factor) * factor); }
double ceil_to(double pixels, double factor) { return std::ceil(pixels / factor) * factor; }

struct Sides {
  double width = 0.0;
  double height = 0.0;
};

std::int64_t patches_of(const Sides& sides, std::int64_t patch) {
  return static_cast<std::int64_t>(sides.width) / patch * (static_cast<std::int64_t>(sides.height) / patch);
}

/// Both sides are rounded to the nearest multiple of a factor, even ones where two are as near, and scaled where their
/// product leaves the range (transformers models/qwen2_vl/image_processing_qwen2_vl.py, smart_resize).
Sides nearest_multiples(ImageSize size, const ImageRule& rule) {
  const auto factor = static_cast<double>(rule.patch * rule.merge);
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  const Sides rounded{std::nearbyint(width / factor) * factor, std::nearbyint(height / factor) * factor};
  const double area = rounded.width * rounded.height;
  if (area > static_cast<double>(rule.most_pixels)) {
    const double shrink = std::sqrt(width * height / static_cast<double>(rule.most_pixels));
    return {floor_to(width / shrink, factor), floor_to(height / shrink, factor)};
  }
  if (area >= static_cast<double>(rule.least_pixels)) return rounded;
  const double stretch = std::sqrt(static_cast<double>(rule.least_pixels) / (width * height));
  return {ceil_to(width * stretch, factor), ceil_to(height * stretch, factor)};
}

SeenImage native(ImageSize size, const ImageRule& rule) {
  constexpr std::int64_t most_aspect = 200;  // smart_resize
  if (std::max(size.width, size.height) > most_aspect * std::min(size.width, size.height)) {
    throw quantity::BadInput("image_size", "is more than 200 times as long as it is wide, which the processor refuses");
  }
  const std::int64_t patches = patches_of(nearest_multiples(size, rule), rule.patch);
  return {1, patches, patches / (rule.merge * rule.merge)};
}

/// The longer edge is shrunk to a limit and both are rounded up to whole patches; each row of tokens ends with one of
/// its own (transformers models/pixtral/image_processing_pixtral.py, get_resize_output_image_size;
/// processing_pixtral.py).
SeenImage longest_edge(ImageSize size, const ImageRule& rule) {
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  const double ratio = std::max(1.0, std::max(width, height) / static_cast<double>(rule.edge));
  const std::int64_t side = rule.patch * rule.merge;
  const auto tokens_of = [&](double pixels) {
    return ceil_divide(static_cast<std::int64_t>(ratio > 1.0 ? std::floor(pixels / ratio) : pixels), side);
  };
  const std::int64_t columns = tokens_of(width);
  const std::int64_t rows = tokens_of(height);
  return {1, columns * rows * rule.merge * rule.merge, rows * (columns + 1)};
}

/// The grid whose aspect is nearest the image's; of equals the larger one, unless it has more than twice its pixels
/// (transformers models/got_ocr2/image_processing_got_ocr2.py, get_optimal_tiled_canvas).
std::int64_t tiles_of(ImageSize size, const ImageRule& rule) {
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  const auto tile = static_cast<double>(rule.edge * rule.edge);
  double nearest = std::numeric_limits<double>::infinity();
  std::int64_t best = 1;
  for (std::int64_t tiles = 1; tiles <= rule.most_tiles; ++tiles) {
    for (std::int64_t columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns != 0) continue;
      const std::int64_t rows = tiles / columns;
      const double away = std::abs(width / height - static_cast<double>(columns) / static_cast<double>(rows));
      const bool as_near = away == nearest && width * height > 0.5 * tile * static_cast<double>(tiles);
      if (away < nearest || as_near) best = tiles;
      nearest = std::min(nearest, away);
    }
  }
  return best;
}

/// An image of several tiles is seen as a whole beside them.
SeenImage tiled(const Tower& tower, const ImageRule& rule, ImageSize size) {
  const std::int64_t tiles = tiles_of(size, rule);
  const std::int64_t all = tiles > 1 ? tiles + 1 : 1;
  return {all, tower.positions, all * rule.tokens};
}

/// The largest multiples of a factor that leave the aspect and the tokens (transformers models/gemma4/
/// image_processing_gemma4.py, get_aspect_ratio_preserving_size).
SeenImage within_budget(const ImageRule& rule, ImageSize size) {
  const auto factor = static_cast<double>(rule.patch * rule.merge);
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  const double scale = std::sqrt(static_cast<double>(rule.tokens) * factor * factor / (width * height));
  auto columns = static_cast<std::int64_t>(scale * width / factor);
  auto rows = static_cast<std::int64_t>(scale * height / factor);
  if (rows == 0) {
    columns = std::min(size.width / size.height, rule.tokens);
  } else if (columns == 0) {
    rows = std::min(size.height / size.width, rule.tokens);
  }
  const std::int64_t tokens = std::max<std::int64_t>(rows, 1) * std::max<std::int64_t>(columns, 1);
  return {1, tokens * rule.merge * rule.merge, tokens};
}

SeenImage fixed(const Tower& tower, const ImageRule& rule) {
  const std::int64_t merged = ceil_divide(tower.positions, std::max<std::int64_t>(tower.merged, 1));
  return {1, tower.positions, rule.tokens > 0 ? rule.tokens : merged};
}

}  // namespace

SeenImage seen(const Tower& tower, const ImageRule& rule, ImageSize size) {
  switch (rule.fit) {
    case ImageFit::native: return native(size, rule);
    case ImageFit::longest_edge: return longest_edge(size, rule);
    case ImageFit::tiles: return tiled(tower, rule, size);
    case ImageFit::rows: return in_rows(tower, rule, size);
    case ImageFit::canvas: return on_canvas(tower, rule, size);
    case ImageFit::grids: return on_grid(tower, rule, size);
    case ImageFit::budget: return within_budget(rule, size);
    case ImageFit::fixed: return fixed(tower, rule);
    case ImageFit::unknown: break;
  }
  throw quantity::BadInput("image_size",
                           fmt::format("no rule is known for images of this model's {} tower", tower.name),
                           "--patches says over how many positions it runs");
}

}  // namespace llmcalc::spec
