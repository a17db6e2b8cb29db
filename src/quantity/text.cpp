#include "llmcalc/quantity/text.hpp"

#include <algorithm>

namespace llmcalc::quantity {

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  const auto is_continued = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (text.size() <= longest) return "'" + std::string(text) + "'";
  std::size_t end = longest;
  while (end > 0 && is_continued(text[end])) --end;  // inside a character of UTF-8
  return "'" + std::string(text.substr(0, end)) + "...'";
}

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr unsigned char first_letter = 0x20;
  constexpr unsigned char erase = 0x7F;
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < first_letter || byte == erase) {
      line.append("\\x").append({digits[byte >> 4U], digits[byte & 0xFU]});
    } else {
      line += c;
    }
  }
  return line;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(blanks) + 1, text.size()));
  return text;
}

}  // namespace llmcalc::quantity
