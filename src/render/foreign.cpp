#include "render/foreign.hpp"

#include "quantity/text.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::render {
namespace {

using quantity::CodePoint;

/// A character as a medium has its own way to write it; empty where it has none.
std::string_view own_writing(char32_t character, Medium medium) {
  if (medium == Medium::markdown) return character == '|' ? "\\|" : character == '\\' ? "\\\\" : "";
  if (medium == Medium::shell) return character == '\'' ? "\\'" : character == '\\' ? "\\\\" : "";
  if (medium == Medium::csv) return character == '"' ? "\"\"" : character == '\n' ? "\n" : "";
  if (medium == Medium::screen || medium == Medium::colours) return character == '\n' ? "\n" : "";
  constexpr std::string_view names = "\"\\\b\f\n\r\t";
  constexpr std::string_view json[] = {"\\\"", "\\\\", "\\b", "\\f", "\\n", "\\r", "\\t"};
  const auto at = character < 0x80 ? names.find(static_cast<char>(character)) : std::string_view::npos;
  if (medium == Medium::json) return at == std::string_view::npos ? "" : json[at];
  if (medium != Medium::xml) return {};
  return character == '&'   ? "&amp;"
         : character == '<' ? "&lt;"
         : character == '>' ? "&gt;"
         : character == '"' ? "&quot;"
                            : "";
}

/// Whether every medium writes a character as it is, by its code.
constexpr auto is_plain = [] {
  constexpr std::string_view written_otherwise = "\"'\\|&<>";
  std::array<bool, 256> plain{};
  for (std::size_t c = ' '; c <= '~'; ++c) {
    plain[c] = written_otherwise.find(static_cast<char>(c)) == std::string_view::npos;
  }
  return plain;
}();

std::string_view plain_beginning(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return is_plain[static_cast<unsigned char>(c)]; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// A character in a writing that may stand there.
std::string written_out(CodePoint character, Medium medium) {
  if (medium != Medium::json) return quantity::escaped(character);
  if (!character.valid) return "\uFFFD";
  if (character.value < 0x10000) return fmt::format("\\u{:04x}", static_cast<unsigned>(character.value));
  const auto pair = static_cast<unsigned>(character.value) - 0x10000;  // RFC 8259, section 7
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (pair >> 10U), 0xDC00 + (pair & 0x3FFU));
}

}  // namespace

void append_shown(std::string& safe, std::string_view text, Medium medium) {
  const bool quotes = medium == Medium::csv && text.find_first_of(",\"\n\r") != std::string_view::npos;
  if (quotes) safe += '"';
  while (true) {
    const auto beginning = plain_beginning(text);
    safe += beginning;
    text.remove_prefix(beginning.size());
    if (text.empty()) break;
    const auto character = quantity::first_code_point(text);
    const auto colour = medium == Medium::colours ? colour_at(text) : std::string_view();
    const auto own = own_writing(character.value, medium);
    const auto plain = text.substr(0, colour.empty() ? character.bytes : colour.size());
    text.remove_prefix(plain.size());
    const bool obeyed = colour.empty() && (!character.valid || quantity::is_obeyed(character.value));
    if (!own.empty()) {
      safe += own;
    } else if (obeyed) {
      safe += written_out(character, medium);
    } else {
      safe += plain;
    }
  }
  if (quotes) safe += '"';
}

std::string shown(std::string_view text, Medium medium) {
  std::string safe;
  append_shown(safe, text, medium);
  return safe;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line.append(c == '\n' ? "\\x0A" : std::string_view(&c, 1));
  return line;
}

std::string on_screen(std::string_view text, const TextStyle& style) {
  return shown(text, style.colour ? Medium::colours : Medium::screen);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // inside a character of UTF-8
  return fmt::format("{}... ({} bytes more)", text.substr(0, end), text.size() - end);
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  if (quantity::printable(text) != text) return "$'" + shown(text, Medium::shell) + "'";
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace llmcalc::render
