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
  const auto is_continued = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (text.size() <= longest) return "'" + std::string(text) + "'";
  std::size_t end = longest;
  while (end > 0 && is_continued(text[end])) --end;  // inside a character of UTF-8
  return "'" + std::string(text.substr(0, end)) + "...'";
}

namespace {

constexpr unsigned char lead_of_second = 0xC2;
constexpr unsigned char last_of_second = 0x9F;

/// The controls from U+0080 to U+009F in UTF-8, of which terminals obey some like an escape (ECMA-48 section 5.3): two
/// bytes, the first of which is no other letter's.
bool is_second_control(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const bool begins =
      byte(at) == lead_of_second && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) <= last_of_second;
  return begins || (at > 0 && byte(at - 1) == lead_of_second && byte(at) >= 0x80 && byte(at) <= last_of_second);
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr unsigned char first_letter = 0x20;
  constexpr unsigned char erase = 0x7F;
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < first_letter || byte == erase || is_second_control(text, i)) {
      line.append("\\x").append({digits[byte >> 4U], digits[byte & 0xFU]});
    } else {
      line += text[i];
    }
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
