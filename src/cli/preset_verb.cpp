#include "cli/preset_verb.hpp"

#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::cli {
namespace {

constexpr std::array<std::string_view, 2> actions{"list", "show"};

}  // namespace

PresetOptions setup_preset_verb(const Arguments& arguments) {
  const auto& words = arguments.names(2);
  if (words.empty()) throw quantity::BadInput({}, "expected 'list' or 'show NAME'");
  if (std::ranges::find(actions, words[0]) == actions.end()) {
    throw quantity::BadInput({}, "there is no '" + words[0] + "': expected 'list' or 'show NAME'",
                             quantity::did_you_mean(words[0], actions));
  }
  const bool lists = words[0] == "list";
  if (lists) arguments.names(1);
  if (!lists && words.size() < 2) throw quantity::BadInput("show", "needs a NAME");
  return {.name = lists ? std::string() : words[1], .json = wants_json(arguments)};
}

}  // namespace llmcalc::cli
