#include "read/config/document.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/inner/json_text.hpp"
#include "read/presets/fields.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace llmcalc::read {
namespace {

using nlohmann::json;

/// Where multimodal files keep the text model (LLaVA and Gemma 3, DeepSeek-VL, InternVL, Qwen-Omni, Donut).
constexpr std::array<std::string_view, 6> nested_text_models = {"text_config",    "language_config", "llm_config",
                                                                "thinker_config", "vlm_config",      "decoder"};

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

/// The first non-null value of the keys, converted; `convert` refuses what it cannot read.
template <class Convert>
auto look_up(const JsonPlace& object, Keys keys, Convert convert) -> std::optional<Found<decltype(convert(object))>> {
  for (const auto key : keys) {
    const auto place = descend(object, key);
    if (place && !place->value().is_null()) return Found<decltype(convert(object))>{convert(*place), place->pointer()};
  }
  return std::nullopt;
}

ConfigObject innermost_text_model(ConfigObject object) {
  while (auto inner = object.object(nested_text_models)) object = *std::move(inner);
  return object;
}

}  // namespace

ConfigObject::ConfigObject(const json& value, std::string pointer, std::string_view place)
    : value_(&value), pointer_(std::move(pointer)), place_(place) {}

JsonPlace ConfigObject::here() const { return {*value_, place_, pointer_}; }

std::optional<Found<std::int64_t>> ConfigObject::integer(Keys keys, Range range) const {
  return look_up(here(), keys, [&](const JsonPlace& place) { return place.integer(range.most, range.least); });
}

std::optional<Found<double>> ConfigObject::number(Keys keys) const {
  return look_up(here(), keys, [](const JsonPlace& place) { return place.number(); });
}

std::optional<Found<bool>> ConfigObject::boolean(Keys keys) const {
  return look_up(here(), keys, [](const JsonPlace& place) { return place.boolean(); });
}

std::optional<Found<std::string>> ConfigObject::text(Keys keys) const {
  return look_up(here(), keys, [](const JsonPlace& place) { return place.string(); });
}

std::optional<Found<std::vector<std::string>>> ConfigObject::texts(Keys keys) const {
  return look_up(here(), keys, [](const JsonPlace& place) { return place.strings(); });
}

std::optional<Found<const json*>> ConfigObject::value(std::string_view path) const {
  const auto place = descend(here(), path);
  if (!place) return std::nullopt;
  return Found<const json*>{&place->value(), place->pointer()};
}

bool ConfigObject::has(Keys keys) const {
  return look_up(here(), keys, [](const JsonPlace&) { return true; }).has_value();
}

std::optional<ConfigObject> ConfigObject::object(Keys keys) const {
  for (const auto key : keys) {
    const auto place = descend(here(), key);
    if (place && place->value().is_object()) return ConfigObject(place->value(), place->pointer(), place_);
  }
  return std::nullopt;
}

ConfigDocument::ConfigDocument(std::string_view json, std::string_view place)
    : place_(place),
      value_(std::make_unique<const nlohmann::json>(parse_json(json, place))),
      root_(*value_, "", place),
      text_model_(innermost_text_model(root_)),
      nested_(text_model_.value_ != root_.value_) {
  if (!value_->is_object()) throw quantity::BadInput(place_, "expected the JSON object of a config.json");
}

ConfigObject ConfigDocument::part(std::string_view path) const {
  static const nlohmann::json nothing = nlohmann::json::object();
  if (path.empty()) return root_;
  auto found = root_.object({&path, 1});
  return found ? *std::move(found) : ConfigObject(nothing, "", place_);
}

bool ConfigDocument::has_any(std::string_view keys) const {
  constexpr std::string_view between = " ?? ";
  for (;;) {
    const auto end = keys.find(between);
    const auto found = text_model_.value(keys.substr(0, end));
    if (found && !found->value->is_null()) return true;
    if (end == std::string_view::npos) return false;
    keys.remove_prefix(end + between.size());
  }
}

ConfigDocument::~ConfigDocument() = default;

}  // namespace llmcalc::read
