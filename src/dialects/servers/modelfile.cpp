#include "dialects/servers/modelfile.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace llmcalc::dialects {
namespace {

struct Instruction {
  std::string name;
  std::string_view argument;
};

Instruction instruction_of(std::string_view line) {
  line = quantity::trim(line);
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  return {quantity::to_lower(line.substr(0, end)), quantity::trim(line.substr(end))};
}

/// What a Modelfile may begin with.
constexpr std::string_view instructions[] = {"from",    "parameter", "template", "system",
                                             "adapter", "license",   "message",  "requires"};

/// People write comments behind numbers.
std::string_view without_comment(std::string_view value) {
  const auto comment = value.find(" #");
  return comment == value.npos ? value : quantity::trim(value.substr(0, comment));
}

/// Whether a text in three quotes begins on a line and does not end there.
bool opens_text(std::string_view argument) {
  constexpr std::string_view quotes = "\"\"\"";
  const auto first = argument.find(quotes);
  return first != std::string_view::npos && argument.find(quotes, first + quotes.size()) == std::string_view::npos;
}

}  // namespace

std::optional<Settings> parse_modelfile(std::string_view text, std::string_view place) {
  Settings settings;
  int line_number = 0;
  bool in_text = false;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    ++line_number;
    if (in_text) {
      in_text = line.find("\"\"\"") == std::string_view::npos;
      continue;
    }
    const auto [name, argument] = instruction_of(line);
    if (name.empty() || name.starts_with('#')) continue;
    const bool known = quantity::contains(instructions, name);
    if (settings.all().empty() && (!known || argument.empty())) return std::nullopt;
    in_text = opens_text(argument);
    const std::string where = fmt::format("{}:{}", place, line_number);
    if (name == "parameter") {
      const auto [key, value] = instruction_of(argument);
      settings.put({key, std::string(without_comment(value)), {}, where, {}});
    } else {
      settings.put({name, std::string(argument), {}, where, {}});
    }
  }
  return settings.has("from") ? std::optional(std::move(settings)) : std::nullopt;
}

}  // namespace llmcalc::dialects
