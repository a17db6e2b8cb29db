// llmcalc model|gpu list [PART] | [show] NAME, and llmcalc dtype [NAME] [--value NUMBER | --quantize LIST]
#include "answer/figures.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "render/answers.hpp"
#include "spec/names.hpp"

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
  const std::string hint(error.hint());
  return {std::string(error.place()), std::string(error.problem()),
          options.alone ? quantity::did_you_mean(options.name, actions, hint) : hint};
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

template <class T>
const T& as_shown(const T& one) {
  return one;
}
template <class T>
std::span<const T> as_shown(const std::vector<T>& list) {
  return list;
}

/// An answer that the render room has to_text() and to_json() for, or a list of such.
template <class Shown>
Reply shown(Shown answer) {
  return {.show = [answer = std::move(answer)](std::string_view form) {
    return form == "json" ? to_json(as_shown(answer), version()) : to_text(as_shown(answer));
  }};
}

using formats::Dtype;
using quantity::BadInput;

struct DtypeRequest {
  std::optional<Dtype> dtype;
  std::optional<double> value;
  std::vector<double> list;
  formats::QuantizationScheme scheme = formats::QuantizationScheme::absmax;
};

constexpr std::array<std::string_view, 3> schemes{"absmax", "zero-point", "affine"};  // in the order of the enum

std::vector<double> number_list(std::string_view text, std::string_view place) {
  std::vector<double> numbers;
  while (true) {
    const auto comma = text.find(',');
    numbers.push_back(quantity::parse_real(text.substr(0, comma), place));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

DtypeRequest dtype_request(const Arguments& arguments) {
  DtypeRequest options;
  const auto& names = arguments.names(1);
  if (!names.empty()) options.dtype = find_dtype(names.front(), "dtype");
  const std::string* value = arguments.find("value");
  const std::string* list = arguments.find("quantize");
  if (value != nullptr && list != nullptr) throw BadInput("--quantize", "contradicts --value: ask one at a time");
  if (value != nullptr) options.value = quantity::parse_real(*value, "--value");
  if (list != nullptr) options.list = number_list(*list, "--quantize");
  if (list == nullptr && arguments.has("scheme")) throw BadInput("--scheme", "belongs to --quantize");
  const auto scheme = std::ranges::find(schemes, arguments.choice("scheme", schemes)) - schemes.begin();
  options.scheme = static_cast<formats::QuantizationScheme>(scheme);
  return options;
}

/// A format that was named must be able to hold the number; in the list of all, those that cannot are left blank.
std::vector<render::FormatLine> format_lines(const DtypeRequest& options) {
  const auto line_of = [&](Dtype dtype, bool encodes) {
    render::FormatLine line{dtype, {}};
    if (options.value && encodes) line.number = formats::encode(dtype, *options.value);
    return line;
  };
  if (options.dtype) return {line_of(*options.dtype, true)};
  const auto encodable = formats::encodable_dtypes();
  return quantity::mapped(formats::all_dtypes(), [&](const auto& facts) {
    return line_of(facts.dtype, quantity::contains(encodable, facts.dtype));
  });
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
  const auto instance = read::find_instance(options.name);
  return shown(card_of(catalogue.accelerator(instance ? instance->gpu : options.name, "gpu show")));
} catch (const quantity::BadInput& error) {
  throw meant_action(preset_options(arguments), error);
}

formats::Dtype find_dtype(std::string_view name, std::string_view place) {
  if (const auto* word = spec::find_name<formats::Dtype>(name)) return word->value;
  throw quantity::BadInput(
      std::string(place), "there is no number format '" + std::string(name) + "'",
      quantity::did_you_mean(name, spec::all_names<formats::Dtype>(), "llmcalc dtype shows all of them"));
}

Reply ask_dtype(const Arguments& arguments, const Surroundings&) {
  const auto asked = dtype_request(arguments);
  if (asked.list.empty()) return shown(format_lines(asked));
  auto result = formats::quantize(asked.list, asked.scheme, asked.dtype.value_or(Dtype::int8));
  return shown(render::QuantizedList{asked.list, std::move(result)});
}

}  // namespace llmcalc::api
