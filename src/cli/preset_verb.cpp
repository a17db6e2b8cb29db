#include "cli/preset_verb.hpp"

#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::cli {
namespace {

constexpr std::array<std::string_view, 2> actions{"list", "show"};

}  // namespace

bool is_listed(const PresetOptions& options, const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return quantity::to_lower(name).find(options.part) != std::string::npos; });
}

void refuse_empty(const PresetOptions& options, std::size_t listed) {
  if (listed > 0) return;
  throw quantity::BadInput("list", "no name holds " + quantity::quoted(options.part), "list alone shows all of them");
}

quantity::BadInput meant_action(const PresetOptions& options, const quantity::BadInput& error) {
  auto hint = options.alone ? quantity::did_you_mean(options.name, actions) : std::string();
  return {std::string(error.place()), std::string(error.problem()),
          hint.empty() ? std::string(error.hint()) : std::move(hint)};
}

PresetOptions setup_preset_verb(const Arguments& arguments) {
  const auto& words = arguments.names(2);
  const bool json = wants_json(arguments);
  if (words.empty()) throw quantity::BadInput({}, "expected 'list', 'list PART' or 'show NAME'");
  const auto other = words.size() < 2 ? std::string() : words[1];
  if (words[0] == "list") return {.part = quantity::to_lower(other), .json = json};
  const bool shows = words[0] == "show";
  if (shows && other.empty()) throw quantity::BadInput("show", "needs a NAME");
  if (!shows && !other.empty()) {
    throw quantity::BadInput({}, "there is no '" + words[0] + "': expected 'list', 'list PART' or 'show NAME'",
                             quantity::did_you_mean(words[0], actions));
  }
  return {.name = shows ? other : words[0], .alone = !shows, .json = json};
}

}  // namespace llmcalc::cli
