// llmcalc model|gpu list [PART] | [show] NAME
#include "answer/figures.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "render/presets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace llmcalc::api {
namespace {

constexpr std::array<std::string_view, 2> actions{"list", "show"};

struct PresetOptions {
  std::string name = {};  ///< empty: a list
  bool alone = false;     ///< the name stands without "show"
  std::string part = {};  ///< of the names in the list, in lower case; empty: all
};

/// Whether any of the names holds the part that was asked for.
bool is_listed(const PresetOptions& options, const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return quantity::to_lower(name).find(options.part) != std::string::npos; });
}

/// \throws quantity::BadInput that the list is empty
void refuse_empty(const PresetOptions& options, std::size_t listed) {
  if (listed > 0) return;
  throw quantity::BadInput("list", "no name holds " + quantity::quoted(options.part), "list alone shows all of them");
}

/// An error about a name, with the action that was meant where the word may be one: "lst".
quantity::BadInput meant_action(const PresetOptions& options, const quantity::BadInput& error) {
  auto hint = options.alone ? quantity::did_you_mean(options.name, actions) : std::string();
  return {std::string(error.place()), std::string(error.problem()),
          hint.empty() ? std::string(error.hint()) : std::move(hint)};
}

PresetOptions preset_options(const Arguments& arguments) {
  const auto& words = arguments.names(2);
  if (words.empty()) throw quantity::BadInput({}, "expected 'list', 'list PART' or 'show NAME'");
  const auto other = words.size() < 2 ? std::string() : words[1];
  if (words[0] == "list") return {.part = quantity::to_lower(other)};
  const bool shows = words[0] == "show";
  if (shows && other.empty()) throw quantity::BadInput("show", "needs a NAME");
  if (!shows && !other.empty()) {
    throw quantity::BadInput({}, "there is no '" + words[0] + "': expected 'list', 'list PART' or 'show NAME'",
                             quantity::did_you_mean(words[0], actions));
  }
  return {.name = shows ? other : words[0], .alone = !shows};
}

render::ModelCard card_of(const read::ModelPreset& preset) {
  return {.id = preset.id,
          .aliases = preset.aliases,
          .hf_id = preset.hf_id,
          .family = preset.family,
          .license = preset.license,
          .shape = preset.shape,
          .size = answer::model_size(preset.shape),
          .published_parameters = preset.published.exact,
          .published_text = preset.published.text,
          .published_check = preset.published.check,
          .published_source = preset.published.source,
          .training_tokens = preset.training.tokens,
          .training_source = preset.training.source,
          .notes = preset.notes,
          .file = preset.file};
}

std::vector<render::ModelCard> model_cards(const PresetOptions& options, const read::Catalogue& catalogue) {
  std::vector<render::ModelCard> cards;
  for (const auto& preset : catalogue.models()) {
    if (is_listed(options, {preset.id, preset.hf_id, preset.family})) cards.push_back(card_of(preset));
  }
  refuse_empty(options, cards.size());
  return cards;
}

render::AcceleratorCard card_of(const read::AcceleratorPreset& preset) {
  return {preset.aliases, preset.accelerator, preset.file};
}

std::vector<render::AcceleratorCard> accelerator_cards(const PresetOptions& options, const read::Catalogue& catalogue) {
  std::vector<render::AcceleratorCard> cards;
  for (const auto& preset : catalogue.accelerators()) {
    const auto& [id, name, vendor, arch] =
        std::tie(preset.accelerator.id, preset.accelerator.name, preset.accelerator.vendor, preset.accelerator.arch);
    if (is_listed(options, {id, name, vendor, arch})) cards.push_back(card_of(preset));
  }
  refuse_empty(options, cards.size());
  return cards;
}

/// An answer that the render room has to_text() and to_json() for.
template <class Shown>
Reply shown(Shown card) {
  return {.show = [card = std::move(card)](std::string_view form) {
    return form == "json" ? to_json(card, version()) : to_text(card);
  }};
}

/// The reply that lists cards of one kind.
template <class Card>
Reply shown(std::vector<Card> cards) {
  return {.show = [cards = std::move(cards)](std::string_view form) {
    const std::span<const Card> all(cards);
    return form == "json" ? to_json(all, version()) : to_text(all);
  }};
}

}  // namespace

Reply ask_model(const Arguments& arguments, const Surroundings& around) try {
  const auto options = preset_options(arguments);
  const auto catalogue = around.catalogue(arguments);
  if (options.name.empty()) return shown(model_cards(options, catalogue));
  return shown(card_of(catalogue.model(options.name, "model show")));
} catch (const quantity::BadInput& error) {
  throw meant_action(preset_options(arguments), error);
}

Reply ask_gpu(const Arguments& arguments, const Surroundings& around) try {
  const auto options = preset_options(arguments);
  const auto catalogue = around.catalogue(arguments);
  if (options.name.empty()) return shown(accelerator_cards(options, catalogue));
  return shown(card_of(catalogue.accelerator(options.name, "gpu show")));
} catch (const quantity::BadInput& error) {
  throw meant_action(preset_options(arguments), error);
}

}  // namespace llmcalc::api
