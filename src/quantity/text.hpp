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

/// Characters that names in programs are made of.
constexpr bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Digits and nothing else.
bool is_number(std::string_view text);

/// ASCII letters in lower case, whatever the locale.
std::string to_lower(std::string_view text);

/// Text in quotes for a message about it, of a long one the beginning.
std::string quoted(std::string_view text);

/// A character of UTF-8.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
  bool valid;
};

/// The first character (RFC 3629, section 4); a byte that begins none stands for itself.
/// \pre text is not empty
CodePoint first_code_point(std::string_view text);

/// Characters that what shows them would obey or refuse: controls, the marks that turn the direction of writing
/// (Unicode UAX #9, section 2), line separators, and noncharacters.
bool is_obeyed(char32_t character);

/// On one line whatever it holds: what would be obeyed, and bytes that are not UTF-8, are written as \x1B and \u202E.
std::string printable(std::string_view text);

/// The character as `printable` writes it, and as a shell reads it within $'...'.
std::string escaped(CodePoint character);

/// Without the white space around it.
std::string_view trim(std::string_view text);

/// Without what it may begin or end with.
std::string_view without_start(std::string_view text, std::string_view start);
std::string_view without_end(std::string_view text, std::string_view end);

/// Text before the first of the separators, or all; both are taken off.
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
