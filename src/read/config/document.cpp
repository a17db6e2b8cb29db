#include "read/config/document.hpp"

#include "llmcalc/quantity/error.hpp"
#include "read/inner/json_text.hpp"

namespace llmcalc::read {
namespace {

using nlohmann::json;

/// Where multimodal files keep the text model (LLaVA and Gemma 3, DeepSeek-VL, InternVL, Qwen-Omni, Donut).
constexpr std::string_view nested_text_models =
    "text_config ?? language_config ?? llm_config ?? thinker_config ?? vlm_config ?? decoder";

/// Follows "attn_config.kv_n_heads" downwards; empty where a step is missing.
std::optional<JsonPlace> descend(JsonPlace object, std::string_view path) {
  for (;;) {
    const auto dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (!object.has(key)) return std::nullopt;
    object = object.member(key);
    if (dot == std::string_view::npos) return object;
    path.remove_prefix(dot + 1);
  }
}

/// The place of the first of the keys whose value is one that is looked for.
template <class IsOne>
std::optional<JsonPlace> first_of(const JsonPlace& object, std::string_view keys, IsOne is_one) {
  constexpr std::string_view between = " ?? ";
  for (;;) {
    const auto end = keys.find(between);
    const auto place = descend(object, keys.substr(0, end));
    if (place && is_one(place->value())) return place;
    if (end == std::string_view::npos) return std::nullopt;
    keys.remove_prefix(end + between.size());
  }
}

/// The first non-null value of the keys, converted; `convert` refuses what it cannot read.
template <class Convert>
auto look_up(const JsonPlace& object, std::string_view keys, Convert convert) {
  const auto place = first_of(object, keys, [](const json& value) { return !value.is_null(); });
  using Value = std::decay_t<std::invoke_result_t<Convert, const JsonPlace&>>;
  return place ? std::optional(Found<Value>{std::invoke(convert, *place), place->pointer()}) : std::nullopt;
}

const json* value_at(const JsonPlace& place) { return &place.value(); }

ConfigObject innermost_text_model(ConfigObject object) {
  while (auto inner = object.object(nested_text_models)) object = *std::move(inner);
  return object;
}

}  // namespace

std::optional<Found<std::int64_t>> ConfigObject::integer(std::string_view keys, Range range) const {
  return look_up(place_, keys, [&](const JsonPlace& place) { return place.integer(range.most, range.least); });
}

std::optional<Found<double>> ConfigObject::number(std::string_view keys) const {
  return look_up(place_, keys, &JsonPlace::number);
}

std::optional<Found<bool>> ConfigObject::boolean(std::string_view keys) const {
  return look_up(place_, keys, &JsonPlace::boolean);
}

std::optional<Found<std::string>> ConfigObject::text(std::string_view keys) const {
  return look_up(place_, keys, &JsonPlace::string);
}

std::optional<Found<std::vector<std::string>>> ConfigObject::texts(std::string_view keys) const {
  return look_up(place_, keys, &JsonPlace::strings);
}

std::optional<Found<const json*>> ConfigObject::any(std::string_view keys) const {
  return look_up(place_, keys, value_at);
}

std::optional<Found<const json*>> ConfigObject::value(std::string_view path) const {
  const auto place = descend(place_, path);
  return place ? std::optional(Found<const json*>{&place->value(), place->pointer()}) : std::nullopt;
}

std::optional<ConfigObject> ConfigObject::object(std::string_view keys) const {
  const auto place = first_of(place_, keys, [](const json& value) { return value.is_object(); });
  return place ? std::optional(ConfigObject(*place)) : std::nullopt;
}

ConfigDocument::ConfigDocument(std::string_view json, std::string_view place)
    : place_(place),
      value_(parse_json(json, place)),
      root_({value_, place_}),
      text_model_(innermost_text_model(root_)),
      nested_(text_model_.whole().value != root_.whole().value) {
  if (!value_.is_object()) throw quantity::BadInput(place_, "expected the JSON object of a config.json");
}

ConfigObject ConfigDocument::part(std::string_view path) const {
  static const nlohmann::json nothing = nlohmann::json::object();
  if (path.empty()) return root_;
  return root_.object(path).value_or(ConfigObject({nothing, place_}));
}

}  // namespace llmcalc::read
