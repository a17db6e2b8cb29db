// llmcalc gpu list | show NAME
#include "cli/catalogue.hpp"
#include "cli/preset_verb.hpp"
#include "cli/show.hpp"
#include "cli/verb.hpp"
#include "llmcalc/render/presets.hpp"

namespace llmcalc::cli {
namespace {

render::AcceleratorCard card_of(const read::AcceleratorPreset& preset) {
  return {preset.aliases, preset.accelerator, preset.file};
}

std::vector<render::AcceleratorCard> all_cards(const read::Catalogue& catalogue) {
  std::vector<render::AcceleratorCard> cards;
  for (const auto& preset : catalogue.accelerators()) cards.push_back(card_of(preset));
  return cards;
}

}  // namespace

Outcome gpu(const Arguments& arguments, const Environment& environment) {
  const auto options = setup_preset_verb(arguments);
  const auto catalogue = open_catalogue(arguments, environment);
  if (options.name.empty()) return show(std::span<const render::AcceleratorCard>(all_cards(catalogue)), options.json);
  return show(card_of(catalogue.accelerator(options.name, "gpu show")), options.json);
}

}  // namespace llmcalc::cli
