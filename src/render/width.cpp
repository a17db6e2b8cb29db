#include "render/inner/width.hpp"

#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace llmcalc::render {
namespace {

struct WidthRange {
  char32_t first;
  char32_t last;
};

// Unicode Standard Annex #11, East Asian Width: the blocks whose characters are W or F.
constexpr std::array wide_ranges{
    WidthRange{0x1100, 0x115F},    // Hangul Jamo
    WidthRange{0x2E80, 0xA4CF},    // CJK radicals to Yi
    WidthRange{0xAC00, 0xD7A3},    // Hangul syllables
    WidthRange{0xF900, 0xFAFF},    // CJK compatibility ideographs
    WidthRange{0xFE30, 0xFE6F},    // CJK compatibility forms
    WidthRange{0xFF00, 0xFF60},    // fullwidth forms
    WidthRange{0xFFE0, 0xFFE6},    // fullwidth signs
    WidthRange{0x1F300, 0x1F64F},  // pictographs and emoticons
    WidthRange{0x1F900, 0x1F9FF},  // supplemental pictographs
    WidthRange{0x20000, 0x3FFFD},  // supplementary ideographic planes
};

// Unicode blocks of marks that are drawn over the character before them, and the zero-width characters.
constexpr std::array zero_ranges{
    WidthRange{0x0300, 0x036F},  // combining diacritical marks
    WidthRange{0x200B, 0x200F},  // zero-width space and joiners
    WidthRange{0x20D0, 0x20FF},  // combining marks for symbols
    WidthRange{0xFE00, 0xFE0F},  // variation selectors
};

bool contains(std::span<const WidthRange> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](WidthRange r) { return r.first <= c && c <= r.last; });
}

/// Bytes of the colour code that `text` begins with, or 0.
std::size_t colour_code_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::size_t columns_of(char32_t c) {
  if (c < zero_ranges.front().first) return 1;  // what nearly all text is
  if (contains(zero_ranges, c)) return 0;
  return contains(wide_ranges, c) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    if (const auto code = colour_code_bytes(text); code > 0) {
      text.remove_prefix(code);
      continue;
    }
    const auto c = quantity::first_code_point(text);
    columns += columns_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

}  // namespace llmcalc::render
