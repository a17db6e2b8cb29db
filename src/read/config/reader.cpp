#include "read/config/reader.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/presets/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>

namespace llmcalc::read {
namespace {

constexpr std::string_view default_origin = "transformers default";
constexpr std::string_view from_root = "root.";
constexpr std::string_view from_text = "text.";

}  // namespace

const ConfigObject& ConfigReader::object_of(std::string_view& path) const {
  if (!path.starts_with(from_root)) return object_;
  path.remove_prefix(from_root.size());
  return document_.root();
}

Amount ConfigReader::key(std::string_view path) {
  if (path.starts_with(from_text)) return (text_ != nullptr ? *text_ : *this).key(path.substr(from_text.size()));
  std::string_view inner = path;
  if (const auto found = object_of(inner).value(inner)) {
    if (found->value->is_null() && null_pointer_.empty()) null_pointer_ = found->pointer;
    if (!found->value->is_null() && first_pointer_.empty()) first_pointer_ = found->pointer;
    return Amount::of(*found->value, found->pointer);
  }
  const auto* otherwise = family_.default_of(path);
  if (otherwise == nullptr && document_.is_nested()) otherwise = family_.class_default_of(path);
  if (otherwise != nullptr) return Amount::of(*otherwise, {});
  return text_ != nullptr && path.starts_with(from_root) ? text_->key(path) : Amount{};
}

bool ConfigReader::is_null(std::string_view path) {
  const auto found = object_of(path).value(path);
  return found && found->value->is_null();
}

/// Values that a file says of single layers, by their numbers (transformers configuration_utils.py, per_layer_config).
Amount ConfigReader::own(std::string_view name) {
  const auto layers = object_.value("per_layer_config");
  if (!layers || !layers->value->is_object()) return key(name);
  for (const auto& [number, values] : layers->value->items()) {
    const bool mine = std::strtoll(number.c_str(), nullptr, 10) == layer_;
    if (!mine || !values.is_object() || !values.contains(name)) continue;
    return Amount::of(values.at(std::string(name)), layers->pointer + "/" + number + "/" + std::string(name));
  }
  return key(name);
}

Amount ConfigReader::field(std::string_view name) {
  if (const auto* number = number_field(name)) {
    const auto value = number->member(shape_);
    return value == 0 ? Amount{} : Amount::of(static_cast<double>(value));
  }
  if (const auto* one = switch_field(name)) return Amount::of(one->member(shape_) ? 1.0 : 0.0);
  if (const auto* helper = family_.helper(name)) return described(*helper, family_.at("let", name));
  throw quantity::BadInput(family_.at("shape", name), "is used but not described");
}

Amount ConfigReader::described(const nlohmann::json& description, const std::string& place) {
  if (!description.is_string()) return Amount::of(description, {});
  return evaluate(description.get_ref<const std::string&>(), *this, place);
}

Amount ConfigReader::field_value(std::string_view name) {
  first_pointer_.clear();
  null_pointer_.clear();
  const auto* description = family_.field(name);
  return description == nullptr ? Amount{} : described(*description, family_.at("shape", name));
}

Amount ConfigReader::layer_value(std::string_view name, std::int64_t layer) {
  layer_ = layer;
  first_pointer_.clear();
  const auto* description = family_.layer_field(name);
  return description == nullptr ? Amount{} : described(*description, family_.at("layer", name));
}

Amount ConfigReader::layer_computed(const nlohmann::json& expression, std::int64_t layer) {
  layer_ = layer;
  return described(expression, family_.at("layer", "beside"));
}

void ConfigReader::remember_origin(std::string_view term, const Amount& amount) {
  const std::string& pointer = amount.pointer.empty() ? first_pointer_ : amount.pointer;
  came_from(term, pointer.empty() ? std::string(default_origin) : pointer);
}

/// A number as it stands in the file is held to its range there; what was computed of several, at the file.
std::int64_t ConfigReader::whole(const NumberField& field, const Amount& amount) const {
  if (!amount.pointer.empty()) {
    return JsonPlace(*amount.value, document_.place(), amount.pointer).integer(field.range.most, field.range.least);
  }
  const bool fits = amount.kind == Amount::Kind::number && amount.number == std::floor(amount.number) &&
                    amount.number >= 0 && amount.number <= static_cast<double>(field.range.most);
  if (!fits) {
    refuse(field.term, amount.kind == Amount::Kind::number
                           ? fmt::format("makes {} {}, expected a whole number from {} to {}", field.name,
                                         amount.number, field.range.least, field.range.most)
                           : fmt::format("makes {} no number", field.name));
  }
  return static_cast<std::int64_t>(amount.number);
}

void ConfigReader::ask_in_vain(std::string_view term, const nlohmann::json& description) {
  if (!null_pointer_.empty()) {
    throw quantity::BadInput(document_.at(null_pointer_), fmt::format("is null, but {} has no default for model_type "
                                                                      "'{}'",
                                                                      term, family_.id()));
  }
  missing_.push_back(fmt::format("'{}' ({})", first_key(description.get<std::string>()), term));
}

void ConfigReader::read(const NumberField& field) {
  const auto* description = family_.field(field.name);
  if (description == nullptr) return;
  const Amount amount = field_value(field.name);
  if (amount.is_absent()) return ask_in_vain(field.term, *description);
  remember_origin(field.term, amount);
  field.member(shape_) = whole(field, amount);
}

void ConfigReader::read(const SwitchField& field) {
  const Amount amount = field_value(field.name);
  if (amount.is_absent()) return;
  if (!amount.pointer.empty()) JsonPlace(*amount.value, document_.place(), amount.pointer).boolean();
  if (field.name == "tied") remember_origin(field.name, amount);
  field.member(shape_) = amount.is_true();
}

void ConfigReader::read(const WordField& field) {
  const auto* description = family_.field(field.name);
  if (description == nullptr) return;
  if (description->is_string() && field.set(shape_, description->get_ref<const std::string&>())) return;
  const Amount amount = field_value(field.name);
  if (amount.kind == Amount::Kind::word && field.set(shape_, amount.word)) return;
  throw quantity::BadInput(family_.at("shape", field.name), fmt::format("'{}' is no word for it", amount.word));
}

void ConfigReader::refuse_missing() const {
  if (missing_.empty()) return;
  throw quantity::BadInput(
      document_.place(),
      fmt::format("lacks keys that model_type '{}' needs: {}", family_.id(), fmt::join(missing_, ", ")),
      fmt::format("compare with {}", family_.source()));
}

void ConfigReader::refuse(std::string_view term, std::string problem) const {
  const auto* origin = quantity::find_or_null(origins_, term, &KeyOrigin::term);
  const bool in_file = origin != nullptr && origin->pointer != default_origin;
  if (in_file) throw quantity::BadInput(document_.at(origin->pointer), std::move(problem));
  // Nothing in the file can be pointed at: the value follows from other keys, so its name has to say what is meant.
  const bool says_it = problem.starts_with(term);
  throw quantity::BadInput(document_.place(), says_it ? std::move(problem) : fmt::format("{} {}", term, problem));
}

void ConfigReader::came_from(std::string_view term, std::string pointer) {
  auto* known = quantity::find_or_null(origins_, term, &KeyOrigin::term);
  if (known == nullptr) known = &origins_.emplace_back(KeyOrigin{std::string(term), {}});
  known->pointer = std::move(pointer);
}

void ConfigReader::by_default(std::string_view term) { came_from(term, std::string(default_origin)); }

}  // namespace llmcalc::read
