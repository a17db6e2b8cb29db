// Processors that cut an image into tiles of the tower's own size, each by a rule of its own.
#pragma once

#include "spec/image.hpp"

namespace llmcalc::spec {

SeenImage in_rows(const Tower& tower, const ImageRule& rule, ImageSize size);
SeenImage on_canvas(const Tower& tower, const ImageRule& rule, ImageSize size);
SeenImage on_grid(const Tower& tower, const ImageRule& rule, ImageSize size);

}  // namespace llmcalc::spec
