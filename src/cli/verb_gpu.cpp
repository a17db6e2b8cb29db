// llmcalc gpu list [PART] | [show] NAME
#include "cli/catalogue.hpp"
#include "cli/preset_verb.hpp"
#include "cli/verb.hpp"
#include "render/presets.hpp"

namespace llmcalc::cli {
namespace {

render::AcceleratorCard card_of(const read::AcceleratorPreset& preset) {
  return {preset.aliases, preset.accelerator, preset.file};
}

std::vector<render::AcceleratorCard> accelerator_cards(const PresetOptions& options, const read::Catalogue& catalogue) {
  std::vector<render::AcceleratorCard> cards;
  for (const auto& preset : catalogue.accelerators()) {
    if (is_listed(options, {preset.accelerator.id, preset.accelerator.name, preset.accelerator.arch}))
      cards.push_back(card_of(preset));
  }
  refuse_empty(options, cards.size());
  return cards;
}

}  // namespace

Outcome gpu(const Arguments& arguments, const Environment& environment) try {
  const auto options = setup_preset_verb(arguments);
  const auto catalogue = open_catalogue(arguments, environment);
  if (options.name.empty())
    return show(std::span<const render::AcceleratorCard>(accelerator_cards(options, catalogue)), options.json);
  return show(card_of(catalogue.accelerator(options.name, "gpu show")), options.json);
} catch (const quantity::BadInput& error) {
  throw meant_action(setup_preset_verb(arguments), error);
}

}  // namespace llmcalc::cli
