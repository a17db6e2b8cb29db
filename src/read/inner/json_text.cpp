#include "read/inner/json_text.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace llmcalc::read {
namespace {

using nlohmann::json;
using quantity::BadInput;

/// Quantized checkpoints nest five deep; beyond this a file is an attack on the parser's stack, not a configuration.
constexpr int max_depth = 64;

std::string at_byte(std::string_view place, std::size_t byte) { return fmt::format("{}:byte {}", place, byte); }

void refuse_deep_nesting(std::string_view text, std::string_view place) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '}' || c == ']') --depth;
    if ((c == '{' || c == '[') && ++depth > max_depth) {
      throw BadInput(at_byte(place, i), fmt::format("nests deeper than {} levels", max_depth));
    }
  }
}

/// The parser takes one for the end of the text (nlohmann/json, lexer::scan), and what stands behind it for nothing.
void refuse_zero_byte(std::string_view text, std::string_view place) {
  const auto at = text.find('\0');
  if (at != text.npos) throw BadInput(at_byte(place, at), "is a zero byte, which no JSON has");
}

/// The parser's message after its own prefix, short enough for one line whatever it read.
std::string reason(const json::parse_error& error) {
  constexpr std::size_t longest = 160;
  std::string text = error.what();
  if (const auto colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

/// Python's json.dump writes numbers that JSON does not have (docs.python.org/3/library/json.html, "Infinite and NaN
/// Number Values"), as Mamba's files do for a limit of time steps. They become texts as long, so that bytes keep their
/// place and whoever wants a number says what stands there.
std::string with_quoted_words(std::string_view text) {
  constexpr std::array<std::string_view, 3> words{"-Infinity", "Infinity", "NaN"};
  std::string quoted(text);
  bool in_string = false;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (in_string && quoted[i] == '\\') ++i;
    if (i < quoted.size() && quoted[i] == '"') in_string = !in_string;
    if (in_string) continue;
    const auto* const word = std::ranges::find_if(words, [&](auto each) { return text.substr(i).starts_with(each); });
    if (word == words.end()) continue;
    quoted[i] = quoted[i + word->size() - 1] = '"';
    i += word->size() - 1;
  }
  return quoted;
}

bool holds_words(std::string_view text) { return text.find("Infinity") != text.npos || text.find("NaN") != text.npos; }

}  // namespace

json parse_json(std::string_view text, std::string_view place, Comments comments) {
  refuse_zero_byte(text, place);
  refuse_deep_nesting(text, place);
  try {
    const bool ignores = comments == Comments::ignored;
    return holds_words(text) ? json::parse(with_quoted_words(text), nullptr, true, ignores)
                             : json::parse(text, nullptr, true, ignores);
  } catch (const json::parse_error& error) {
    throw BadInput(at_byte(place, error.byte), "is not JSON: " + reason(error));
  } catch (const json::out_of_range&) {
    throw BadInput(std::string(place), "holds a number outside the range of a double");
  }
}

}  // namespace llmcalc::read
