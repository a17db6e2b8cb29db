#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::quantity {

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return "'" + std::string(text) + "'";
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // inside a character of UTF-8
  return "'" + std::string(text.substr(0, end)) + "...'";
}

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr Range obeyed_ranges[] = {
    {0x00, 0x1F},      {0x7F, 0x9F},      // C0 and C1: terminals obey some of the latter like an escape (ECMA-48, 5.3)
    {0x061C, 0x061C},  {0x200E, 0x200F},  // Arabic letter mark, marks of direction
    {0x2028, 0x202E},                     // separators of lines and paragraphs, embeddings and overrides
    {0x2066, 0x2069},                     // isolates
    {0xFDD0, 0xFDEF},  {0xFEFF, 0xFEFF},  // noncharacters, byte order mark
    {0xFFFE, 0xFFFF},                     // noncharacters, which XML refuses
    {0xE0000, 0xE007F}                    // tags, which nothing shows
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

bool is_shortest(char32_t value, std::size_t bytes) {
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value >= least[bytes] && value <= 0x10FFFF && !surrogate;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const auto tail = text.substr(1, bytes - 1);
  const bool whole = lead >= 0xC0 && lead < 0xF8 && tail.size() + 1 == bytes;
  if (!whole || !std::ranges::all_of(tail, is_continuation)) return {lead, 1, false};
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (const char c : tail) value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return is_shortest(value, bytes) ? CodePoint{value, bytes, true} : CodePoint{lead, 1, false};
}

bool is_obeyed(char32_t character) {
  return std::ranges::any_of(obeyed_ranges, [&](Range r) { return r.first <= character && character <= r.last; });
}

std::string escaped(CodePoint character) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const bool byte = !character.valid || character.value < 0x80;
  const unsigned width = byte ? 2 : character.value < 0x10000 ? 4 : 8;
  std::string text = width == 2 ? "\\x" : width == 4 ? "\\u" : "\\U";
  for (unsigned digit = width; digit-- > 0;) text += digits[(character.value >> (4 * digit)) & 0xFU];
  return text;
}

std::string printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string line;
  while (!text.empty()) {
    const auto character = first_code_point(text);
    const bool shown = character.valid && !is_obeyed(character.value);
    line.append(shown ? std::string(text.substr(0, character.bytes)) : escaped(character));
    text.remove_prefix(character.bytes);
  }
  return line;
}

constexpr std::string_view blanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(blanks) + 1, text.size()));
  return text;
}

std::string_view without_start(std::string_view text, std::string_view start) {
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

std::string_view without_end(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

std::string_view take_until(std::string_view& text, std::string_view separators) {
  const bool is_one = separators.size() == 1;  // which memchr finds
  const auto taken = text.substr(0, is_one ? text.find(separators.front()) : text.find_first_of(separators));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) pieces.push_back(take_until(text, separators));
  return pieces;
}

}  // namespace llmcalc::quantity
