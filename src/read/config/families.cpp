#include "read/config/families.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"
#include "read/config/reader.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace llmcalc::read {
namespace {

struct Synonym {
  std::string_view model_type;
  std::string_view family;
};

/// Model types whose text model is built like another's: multimodal wrappers and renamed ports.
constexpr std::array synonyms = {
    Synonym{"gemma3", "gemma3_text"},  Synonym{"llama4", "llama4_text"},
    Synonym{"qwen2_vl", "qwen2"},      Synonym{"qwen2_vl_text", "qwen2"},
    Synonym{"qwen2_5_vl", "qwen2"},    Synonym{"qwen2_5_vl_text", "qwen2"},
    Synonym{"qwen3_vl_text", "qwen3"}, Synonym{"qwen3_vl_moe_text", "qwen3_moe"},
    Synonym{"mistral3", "mistral"},    Synonym{"llava", "llama"},
    Synonym{"grok1", "grok-1"},        Synonym{"qwen3-next", "qwen3_next"},
};

std::vector<const Family*> all_families() {
  std::vector<const Family*> all;
  for (const auto& family : dense_families()) all.push_back(&family);
  for (const auto& family : expert_families()) all.push_back(&family);
  return all;
}

/// "Llama" is the architecture of LlamaForCausalLM and of LlamaModel.
const Family* by_architecture(std::string_view class_name) {
  for (const Family* family : all_families()) {
    if (!class_name.starts_with(family->architecture)) continue;
    const auto rest = class_name.substr(family->architecture.size());
    if (rest.starts_with("For") || rest == "Model" || rest == "LMHeadModel") return family;
  }
  return nullptr;
}

[[noreturn]] void refuse_unknown(const ConfigDocument& document, const Found<std::string>& model_type) {
  std::vector<const Concept*> missing;
  for (const Concept* wanted :
       {&concepts::hidden, &concepts::layers, &concepts::heads, &concepts::ffn, &concepts::vocab}) {
    if (!document.text_model().has(wanted->keys)) missing.push_back(wanted);
  }
  std::vector<std::string_view> names;
  for (const Family* family : all_families()) names.push_back(family->model_type);
  const std::string lacks = missing.empty() ? "has every key" : "lacks " + names_of(missing);
  throw quantity::BadInput(
      document.at(model_type.pointer),
      fmt::format("'{}' is not a model type we know; as a Llama-like decoder the file {}", model_type.value, lacks),
      quantity::did_you_mean(model_type.value, names));
}

}  // namespace

const Family* family_named(std::string_view model_type) {
  for (const auto& [name, family] : synonyms) {
    if (name == model_type) model_type = family;
  }
  for (const Family* family : all_families()) {
    if (family->model_type == model_type) return family;
  }
  return nullptr;
}

const Family& family_of(const ConfigDocument& document) {
  const auto inner = document.text_model().text(keys::model_type);
  const auto outer = document.root().text(keys::model_type);
  for (const auto& found : {inner, outer}) {
    const Family* family = found ? family_named(found->value) : nullptr;
    if (family != nullptr) return *family;
  }
  if (const auto classes = document.root().texts(keys::architectures)) {
    for (const auto& name : classes->value) {
      if (const Family* family = by_architecture(name)) return *family;
    }
  }
  if (inner) refuse_unknown(document, *inner);
  if (outer) refuse_unknown(document, *outer);
  throw quantity::BadInput(document.at("/model_type"), "is missing, and no known class stands under 'architectures'",
                           "a config.json of transformers says \"model_type\": \"llama\" or the like");
}

}  // namespace llmcalc::read
