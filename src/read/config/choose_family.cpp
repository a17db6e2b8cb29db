// Which family a file belongs to.
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "read/config/document.hpp"
#include "read/config/expression.hpp"
#include "read/config/expression_text.hpp"
#include "read/config/family.hpp"
#include "read/presets/embedded_presets.hpp"

#include <fmt/format.h>

#include <array>

namespace llmcalc::read {
namespace {

constexpr std::array<std::string_view, 1> model_type_key = {"model_type"};
constexpr std::array<std::string_view, 1> architectures_key = {"architectures"};

/// "Llama" is the architecture of LlamaForCausalLM and of LlamaModel.
bool is_class_of(std::string_view class_name, std::string_view architecture) {
  if (architecture.empty() || !class_name.starts_with(architecture)) return false;
  const auto rest = class_name.substr(architecture.size());
  return rest.starts_with("For") || rest == "Model" || rest == "LMHeadModel";
}

std::string_view family_of_class(std::string_view class_name) {
  const auto is_of_it = [&](const auto& entry) { return is_class_of(class_name, entry.architecture); };
  const auto* entry = quantity::find_if_or_null(embedded_families(), is_of_it);
  return entry == nullptr ? std::string_view() : entry->id;
}

/// What a Llama-like decoder must say: the keys of its file, each with what it holds.
std::string lacking_keys(const ConfigDocument& document, const Family& decoder) {
  std::string lacking;
  for (const auto term : {"hidden", "layers", "heads", "ffn", "vocab"}) {
    const auto* described = decoder.field(term);
    const std::string keys = described->get<std::string>();
    if (document.has_any(keys)) continue;
    lacking += fmt::format("{}'{}' ({})", lacking.empty() ? "" : ", ", first_key(keys), term);
  }
  return lacking;
}

[[noreturn]] void refuse_unknown(const Families& families, const ConfigDocument& document,
                                 const Found<std::string>& model_type) {
  std::vector<std::string_view> names;
  for (const auto& entry : embedded_families()) names.push_back(entry.id);
  const std::string lacking = lacking_keys(document, *families.named("llama"));
  std::string hint = quantity::did_you_mean(model_type.value, names);
  if (lacking.empty()) hint += std::string(hint.empty() ? "" : "; ") + "--as llama reads it as one";
  throw quantity::BadInput(document.at(model_type.pointer),
                           fmt::format("'{}' is not a model type we know; as a Llama-like decoder the file {}",
                                       model_type.value, lacking.empty() ? "has every key" : "lacks " + lacking),
                           hint);
}

}  // namespace

std::optional<Family> Families::wrapper_of(const ConfigDocument& document) const {
  const auto outer = document.root().text(model_type_key);
  auto family = outer ? named(outer->value) : std::nullopt;
  return family && family->description().contains("towers") ? family : std::nullopt;
}

namespace {

Family asked_for(const Families& families, std::string_view as) {
  if (auto family = families.named(as)) return *std::move(family);
  throw quantity::BadInput("--as", fmt::format("'{}' is not a model type we know", as),
                           quantity::did_you_mean(as, quantity::mapped(embedded_families(), &EmbeddedFamily::id)));
}

/// What the text model of a file may be known by, the nearest name first.
std::vector<std::string> names_of(const ConfigDocument& document, const std::optional<Family>& wrapper) {
  std::vector<std::string> names;
  const auto add = [&](const auto& found) {
    if (found) names.push_back(found->value);
  };
  if (document.is_nested()) add(document.text_model().text(model_type_key));
  if (wrapper && wrapper->description().contains("text")) {
    names.push_back(wrapper->description().at("text").get<std::string>());
  }
  add(document.root().text(model_type_key));
  return names;
}

/// By the class that a file without a known type names; empty where none is known either.
std::string_view class_family(const ConfigDocument& document) {
  const auto classes = document.root().texts(architectures_key);
  if (!classes) return {};
  for (const auto& name : classes->value) {
    if (const std::string_view id = family_of_class(name); !id.empty()) return id;
  }
  return {};
}

}  // namespace

Family Families::of(const ConfigDocument& document, std::string_view as) const {
  if (!as.empty()) return asked_for(*this, as);
  for (const auto& name : names_of(document, wrapper_of(document))) {
    if (auto family = named(name)) return *std::move(family);
  }
  if (const auto id = class_family(document); !id.empty()) return *named(id);
  const auto inner = document.text_model().text(model_type_key);
  const auto outer = document.root().text(model_type_key);
  if (inner) refuse_unknown(*this, document, *inner);
  if (outer) refuse_unknown(*this, document, *outer);
  throw quantity::BadInput(document.at("/model_type"), "is missing, and no known class stands under 'architectures'",
                           "a config.json of transformers says \"model_type\": \"llama\" or the like");
}

}  // namespace llmcalc::read
