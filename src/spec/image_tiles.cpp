#include "spec/inner/image_tiles.hpp"

#include "llmcalc/quantity/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::spec {

namespace {

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

/// Of a grid's tokens those whose row or column shows the image, and one more a row (transformers models/llava_next/
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

}  // namespace

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

}  // namespace llmcalc::spec
