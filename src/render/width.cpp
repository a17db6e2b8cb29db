#include "render/inner/width.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace llmcalc::render {
namespace {

struct CodePoint {
  char32_t value;
  std::size_t bytes;
};

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode Standard Annex #11, East Asian Width: the blocks whose characters are W or F.
constexpr std::array wide_ranges{
    Range{0x1100, 0x115F},    // Hangul Jamo
    Range{0x2E80, 0xA4CF},    // CJK radicals to Yi
    Range{0xAC00, 0xD7A3},    // Hangul syllables
    Range{0xF900, 0xFAFF},    // CJK compatibility ideographs
    Range{0xFE30, 0xFE6F},    // CJK compatibility forms
    Range{0xFF00, 0xFF60},    // fullwidth forms
    Range{0xFFE0, 0xFFE6},    // fullwidth signs
    Range{0x1F300, 0x1F64F},  // pictographs and emoticons
    Range{0x1F900, 0x1F9FF},  // supplemental pictographs
    Range{0x20000, 0x3FFFD},  // supplementary ideographic planes
};

// Unicode blocks of marks that are drawn over the character before them, and the zero-width characters.
constexpr std::array zero_ranges{
    Range{0x0300, 0x036F},  // combining diacritical marks
    Range{0x200B, 0x200F},  // zero-width space and joiners
    Range{0x20D0, 0x20FF},  // combining marks for symbols
    Range{0xFE00, 0xFE0F},  // variation selectors
};

bool contains(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](Range r) { return r.first <= c && c <= r.last; });
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The first character of `text` (RFC 3629, table 3-1); a byte that begins none stands for itself.
/// \pre text is not empty
CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const auto tail = text.substr(1, bytes - 1);
  if (bytes == 1 || tail.size() + 1 < bytes || !std::ranges::all_of(tail, is_continuation)) return {lead, 1};
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (const char c : tail) value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return {value, bytes};
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
    const auto c = first_code_point(text);
    columns += columns_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

}  // namespace llmcalc::render
