// Letters of what people write, before anything is read into them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace llmcalc::quantity {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What names in programs are made of.
constexpr bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Digits and nothing else.
bool is_number(std::string_view text);

/// ASCII letters in lower case, whatever the locale.
std::string to_lower(std::string_view text);

/// In quotes for a message about it, of a long one the beginning.
std::string quoted(std::string_view text);

/// On one line whatever it holds: control bytes, which a terminal would obey, are written as \x1B.
std::string printable(std::string_view text);

/// Without the white space around it.
std::string_view trim(std::string_view text);

/// Without what it may begin or end with.
std::string_view without_start(std::string_view text, std::string_view start);
std::string_view without_end(std::string_view text, std::string_view end);

/// What stands before the first of the separators, or all; both are taken off the text.
std::string_view take_until(std::string_view& text, std::string_view separators);

/// The number that a text begins with, taken off it; nothing where it begins with none.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

/// All that stands between separators, empty texts too.
std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separators);

}  // namespace llmcalc::quantity
