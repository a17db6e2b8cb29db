#include "search/changed_words.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::search {
namespace {

/// Options with their values, one of each: what is said of an option later replaces what was said before.
void add_flags(std::string& typed, std::string_view flags) {
  while (!flags.empty()) {
    const auto end = std::min(flags.find(" --"), flags.size());
    const auto option = flags.substr(0, end);
    flags.remove_prefix(std::min(end + 1, flags.size()));
    const auto name = std::string(option.substr(0, option.find(' '))) + " ";
    if (const auto before = typed.find(name); before != std::string::npos) {
      typed.replace(before, std::min(typed.find(" --", before), typed.size()) - before, option);
    } else {
      typed.append(typed.empty() ? "" : " ").append(option);
    }
  }
}

}  // namespace

void say(Changed& run, std::string_view flag, std::string_view change, std::string_view cost) {
  const auto append = [](std::string& text, std::string_view separator, std::string_view more) {
    if (!text.empty()) text.append(separator);
    text.append(more);
  };
  add_flags(run.flag, flag);
  append(run.change, ", and ", change);
  append(run.cost, "; ", cost);
}

}  // namespace llmcalc::search
