// llmcalc model list [PART] | [show] NAME
#include "answer/model_size.hpp"
#include "cli/catalogue.hpp"
#include "cli/preset_verb.hpp"
#include "cli/verb.hpp"
#include "render/presets.hpp"

namespace llmcalc::cli {
namespace {

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

}  // namespace

Outcome model(const Arguments& arguments, const Environment& environment) try {
  const auto options = setup_preset_verb(arguments);
  const auto catalogue = open_catalogue(arguments, environment);
  if (options.name.empty())
    return show(std::span<const render::ModelCard>(model_cards(options, catalogue)), options.json);
  return show(card_of(catalogue.model(options.name, "model show")), options.json);
} catch (const quantity::BadInput& error) {
  throw meant_action(setup_preset_verb(arguments), error);
}

}  // namespace llmcalc::cli
