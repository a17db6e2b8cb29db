// What the processor of a family makes of an image: how often its tower runs, over how many positions each time, and
// how many tokens of the text model come of it.
#pragma once

#include "llmcalc/spec/shape.hpp"

#include <cstdint>

namespace llmcalc::spec {

enum class ImageFit : std::uint8_t {
  unknown,
  fixed,         ///< every image is scaled to the tower's own size
  native,        ///< to the nearest multiples of a factor, within a range of pixels (Qwen2-VL)
  longest_edge,  ///< to whole patches below a longest edge (Pixtral)
  tiles,         ///< cut into tiles of the tower's own size, with the whole image beside them (InternVL)
  rows,          ///< the same of an image scaled to a longest edge, row by row, with words between them (Idefics3)
  canvas,        ///< the same on the canvas of tiles that it fills without distortion (Llama 4)
  grids,         ///< the same on one of some grids, of whose tokens padding is taken away (LLaVA-NeXT)
  budget,        ///< to the largest multiples of a factor within so many tokens (Gemma 4)
};

/// How the processor in front of a tower fits images to it.
struct ImageRule {
  ImageFit fit = ImageFit::unknown;
  std::int64_t patch = 0;         ///< pixels along a patch
  std::int64_t merge = 1;         ///< patches along what becomes one token
  std::int64_t least_pixels = 0;  ///< of an image; of fit native
  std::int64_t most_pixels = 0;
  std::int64_t edge = 0;        ///< longest edge, or edge of a tile
  std::int64_t most_tiles = 1;  ///< beside the whole image
  std::int64_t tokens = 0;      ///< of an image of the tower's own size; 0: its positions over those merged
};

/// Pixels of an image before a processor takes it.
struct ImageSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// Image as a tower sees it.
struct SeenImage {
  std::int64_t tiles = 1;      ///< images of its own size that it is cut into
  std::int64_t positions = 0;  ///< of one of them, in the tower
  std::int64_t tokens = 0;     ///< of the whole image, in the sequence of the text model
};

/// \throws quantity::BadInput at `image_size` when the processor takes no such image, or no rule is known
SeenImage seen(const Tower& tower, const ImageRule& rule, ImageSize size);

/// Image that becomes most, as the tower sees it; none where no rule is known.
SeenImage largest(const Tower& tower, const ImageRule& rule);

}  // namespace llmcalc::spec
