#include "read/presets/fields.hpp"

namespace llmcalc::read {

std::string read_name(const JsonPlace& value) {
  std::string name = value.string();
  const auto separates = [](char c) { return c == ':' || c == ',' || c == '|' || c == 0x7f || (c >= 0 && c <= ' '); };
  if (name.empty() || std::ranges::any_of(name, separates)) {
    value.fail("a name is one word without white space, ':', ',' or '|'");
  }
  return name;
}

std::vector<std::string> read_names(const JsonPlace& value) {
  std::vector<std::string> names = value.strings();
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = read_name(value.item(i));
  return names;
}

}  // namespace llmcalc::read
