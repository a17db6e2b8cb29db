// Which family a file belongs to.
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"
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
  for (const auto& entry : embedded_families()) {
    if (is_class_of(class_name, entry.architecture)) return entry.id;
  }
  return {};
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

Family Families::of(const ConfigDocument& document, std::string_view as) const {
  if (!as.empty()) {
    if (auto family = named(as)) return *std::move(family);
    std::vector<std::string_view> names;
    for (const auto& entry : embedded_families()) names.push_back(entry.id);
    throw quantity::BadInput("--as", fmt::format("'{}' is not a model type we know", as),
                             quantity::did_you_mean(as, names));
  }
  const auto inner = document.text_model().text(model_type_key);
  const auto outer = document.root().text(model_type_key);
  const auto wrapper = wrapper_of(document);
  if (inner && document.is_nested()) {
    if (auto family = named(inner->value)) return *std::move(family);
  }
  if (wrapper && wrapper->description().contains("text")) {
    const auto name = wrapper->description().at("text").get<std::string>();
    if (auto family = named(name)) return *std::move(family);
  }
  if (outer) {
    if (auto family = named(outer->value)) return *std::move(family);
  }
  if (const auto classes = document.root().texts(architectures_key)) {
    for (const auto& name : classes->value) {
      const auto id = family_of_class(name);
      if (!id.empty()) return *named(id);
    }
  }
  if (inner) refuse_unknown(*this, document, *inner);
  if (outer) refuse_unknown(*this, document, *outer);
  throw quantity::BadInput(document.at("/model_type"), "is missing, and no known class stands under 'architectures'",
                           "a config.json of transformers says \"model_type\": \"llama\" or the like");
}

}  // namespace llmcalc::read
