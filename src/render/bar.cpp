#include "render/inner/bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace llmcalc::render {

std::string bar(double share, int columns) {
  constexpr int eighths_per_column = 8;
  static constexpr std::array<std::string_view, eighths_per_column> partial{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * eighths_per_column));
  std::string drawn;
  for (int i = 0; i < eighths / eighths_per_column; ++i) drawn += "█";
  return drawn.append(partial[static_cast<std::size_t>(eighths % eighths_per_column)]);
}

}  // namespace llmcalc::render
