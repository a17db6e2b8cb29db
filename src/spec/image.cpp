#include "spec/image.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace llmcalc::spec {

namespace {

// Processors that cut an image into tiles of the tower's own size, each by a rule of its own.

using quantity::ceil_divide;

struct Grid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t tiles() const { return rows * columns; }
};

/// An image of several tiles is seen as a whole beside them.
std::int64_t with_whole(std::int64_t tiles) { return tiles > 1 ? tiles + 1 : 1; }

/// The longer side becomes the longest edge, the shorter one keeps the aspect and is even (transformers models/
/// idefics3/image_processing_idefics3.py, _resize_output_size_rescale_to_max_len and _scale_below_upper_bound).
ImageSize scaled_to(ImageSize size, std::int64_t longest) {
  constexpr std::int64_t largest = 4096;  // MAX_IMAGE_SIZE
  const double aspect = static_cast<double>(size.width) / static_cast<double>(size.height);
  const bool wide = size.width >= size.height;
  const auto shorter = static_cast<std::int64_t>(static_cast<double>(longest) * (wide ? 1.0 / aspect : aspect));
  const std::int64_t even = std::max<std::int64_t>(shorter + shorter % 2, 1);
  const std::int64_t longer = std::min(longest, largest);
  return wide ? ImageSize{longer, even} : ImageSize{even, longer};
}

Grid rows_of(const ImageRule& rule, ImageSize size) {
  constexpr std::int64_t tiles_along = 4;  // of the longest edge: size is 4 * 364 where a tile has 364
  const ImageSize scaled = scaled_to(size, tiles_along * rule.edge);
  return {ceil_divide(scaled.height, rule.edge), ceil_divide(scaled.width, rule.edge)};
}

/// The resolution that the image fills best: the least scale that enlarges it, or the largest that does not; of equals
/// the one with the fewest tiles (transformers models/llama4/image_processing_llama4.py, get_best_fit).
std::int64_t canvas_tiles(const ImageRule& rule, ImageSize size) {
  std::int64_t best = 1;
  float chosen = 0.0F;
  const auto scale_of = [&](std::int64_t tiles, std::int64_t pixels) {
    return static_cast<float>(tiles * rule.edge) / static_cast<float>(pixels);
  };
  for (std::int64_t tiles = 1; tiles <= rule.most_tiles; ++tiles) {
    for (std::int64_t columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns != 0) continue;
      const float scale = std::min(scale_of(columns, size.width), scale_of(tiles / columns, size.height));
      const bool better = scale >= 1.0F ? chosen < 1.0F || scale < chosen : scale > chosen;
      if (better) chosen = scale, best = tiles;
    }
  }
  return best;
}

/// How much of an image a grid shows, and how much of the grid stays empty.
struct Shown {
  std::int64_t pixels = 0;
  std::int64_t wasted = 0;
};

Shown shown(ImageSize size, ImageSize grid) {
  const double scale = std::min(static_cast<double>(grid.width) / static_cast<double>(size.width),
                                static_cast<double>(grid.height) / static_cast<double>(size.height));
  const auto scaled = [&](std::int64_t side) { return static_cast<std::int64_t>(static_cast<double>(side) * scale); };
  const std::int64_t pixels = std::min(scaled(size.width) * scaled(size.height), size.width * size.height);
  return {pixels, grid.width * grid.height - pixels};
}

/// transformers image_processing_utils.py, select_best_resolution, among the grids that llava-hf's models have
/// (image_grid_pinpoints).
Grid best_grid(const ImageRule& rule, ImageSize size) {
  constexpr std::array grids{Grid{1, 2}, Grid{2, 1}, Grid{2, 2}, Grid{3, 1}, Grid{1, 3}};
  Grid best = grids[0];
  Shown most{-1, 0};
  for (const Grid& grid : grids) {
    const Shown seen = shown(size, {grid.columns * rule.edge, grid.rows * rule.edge});
    const bool better = seen.pixels > most.pixels || (seen.pixels == most.pixels && seen.wasted < most.wasted);
    if (better) most = seen, best = grid;
  }
  return best;
}

/// Tokens of a grid whose row or column shows the image, and one more a row (transformers models/llava_next/
/// processing_llava_next.py, _get_unpadded_features).
std::int64_t without_padding(const Grid& grid, std::int64_t along, ImageSize size) {
  std::int64_t rows = grid.rows * along;
  std::int64_t columns = grid.columns * along;
  const auto width = static_cast<double>(size.width);
  const auto height = static_cast<double>(size.height);
  const auto rounded = [](double side) { return static_cast<std::int64_t>(std::round(side * 1e7) / 1e7); };
  if (width / height > static_cast<double>(columns) / static_cast<double>(rows)) {
    rows -= (rows - rounded(height * (static_cast<double>(columns) / width))) / 2 * 2;
  } else {
    columns -= (columns - rounded(width * (static_cast<double>(rows) / height))) / 2 * 2;
  }
  return rows * columns + rows;
}

/// Each tile stands between two words, a row ends with one, and the whole image with three (transformers
/// models/idefics3/ processing_idefics3.py, _get_num_multimodal_tokens).
SeenImage in_rows(const Tower& tower, const ImageRule& rule, ImageSize size) {
  const Grid grid = rows_of(rule, size);
  const std::int64_t words = rule.tokens + 3 + grid.rows * (grid.columns * (rule.tokens + 2) + 1);
  return {with_whole(grid.tiles()), tower.positions, words};
}

/// Behind each tile of several stands a word, and three around the whole (transformers models/llama4/
/// processing_llama4.py, _prompt_split_image).
SeenImage on_canvas(const Tower& tower, const ImageRule& rule, ImageSize size) {
  const std::int64_t tiles = canvas_tiles(rule, size);
  const std::int64_t all = with_whole(tiles);
  return {all, tower.positions, all * rule.tokens + 3 + (tiles > 1 ? tiles : 0)};
}

SeenImage on_grid(const Tower& tower, const ImageRule& rule, ImageSize size) {
  const Grid grid = best_grid(rule, size);
  const std::int64_t along = rule.edge / rule.patch;
  return {grid.tiles() + 1, tower.positions, along * along + without_padding(grid, along, size)};
}

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

/// Images larger than any limit, of the aspect of each grid of tiles.
SeenImage largest(const Tower& tower, const ImageRule& rule) {
  constexpr std::int64_t beyond_limits = 1 << 14;
  SeenImage most{0, 0, 0};
  if (rule.fit == ImageFit::unknown) return most;
  if (rule.fit == ImageFit::budget) return {1, rule.tokens * rule.merge * rule.merge, rule.tokens};
  for (std::int64_t rows = 1; rows <= rule.most_tiles; ++rows) {
    for (std::int64_t columns = 1; columns * rows <= rule.most_tiles; ++columns) {
      const SeenImage image = seen(tower, rule, {columns * beyond_limits, rows * beyond_limits});
      if (image.tokens > most.tokens) most = image;
    }
  }
  return most;
}

}  // namespace llmcalc::spec
