// What the quantization of a checkpoint says module by module, in its config.json or hf_quant_config.json.
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config.hpp"
#include "read/config/document.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace llmcalc::read {
namespace {

using formats::Quant;
using nlohmann::json;

/// compressed-tensors' word for every linear layer.
constexpr std::string_view all_linear = "Linear";

constexpr Range widths{1, 64};
constexpr Range sizes{0, 1 << 20};

/// DeepSeek-V4 has it in the model's part, which its class moves (transformers models/deepseek_v4, __post_init__).
constexpr std::string_view beside_block = "expert_dtype";

std::string text_of(const ConfigObject& block, std::string_view key, Holds holds) {
  const auto number = [&](Range range) {
    const auto found = block.integer(key, range);
    return found ? std::to_string(found->value) : std::string();
  };
  switch (holds) {
    case Holds::bits: return number(widths);
    case Holds::size: return number(sizes);
    case Holds::flag: {
      const auto flag = block.boolean(key);
      return !flag ? "" : flag->value ? "true" : "false";
    }
    case Holds::list: return block.has(key) ? "list" : "";
    case Holds::word: break;
  }
  const auto word = block.text(key);
  return word ? word->value : std::string();
}

/// Those of the names that are texts.
std::vector<std::string> names_in(const ConfigObject& block, std::string_view keys) {
  const auto list = block.any(keys);
  if (!list || !list->value->is_array()) return {};
  return quantity::mapped_if(
      *list->value, [](const json& name) { return name.get<std::string>(); },
      [](const json& name) { return name.is_string(); });
}

/// Families whose experts stand beside their MLP have the router there too (Gemma 4: "layers.0.router").
bool routes_beside_mlp(const std::vector<spec::NamedModules>& left) {
  return std::ranges::any_of(left, [](const spec::NamedModules& modules) {
    return modules.beside_mlp && modules.roles == spec::RoleSet().set(static_cast<std::size_t>(spec::Role::router));
  });
}

void leave(const ConfigObject& block, spec::FileTensors& tensors) {
  const auto left = quantity::mapped(
      names_in(block, "ignore ?? exclude_modules ?? modules_to_not_convert ?? ignored_layers ?? llm_int8_skip_modules"),
      spec::modules_named);
  const bool beside = routes_beside_mlp(left);
  for (spec::NamedModules modules : left) {
    if (modules.whole_mlp && beside) modules.expert = false;
    tensors.say(modules, Quant::bf16);
  }
}

/// ModelOpt's own algorithms go by its names; another quantizer's, that it narrows further, stay as they were elsewhere
/// (vLLM quantization/modelopt.py, ModelOptMixedPrecisionConfig; nvidia/DeepSeek-V4-*-NVFP4, of FP8 in blocks).
void say_layers(const json& layers, Quant elsewhere, spec::FileTensors& tensors) {
  tensors.say(spec::all_of_layers(), elsewhere);
  for (const auto& [name, entry] : layers.items()) {
    const auto algorithm = entry.is_object() ? entry.find("quant_algo") : entry.end();
    if (!entry.is_object() || algorithm == entry.end() || !algorithm->is_string()) continue;
    if (const auto quant = quant_of_modelopt(algorithm->get<std::string>())) {
      tensors.say(spec::modules_named(name), *quant);
    }
  }
}

void say_groups(const ConfigObject& block, const KeyText& text, spec::FileTensors& tensors) {
  tensors.say(spec::all_of_layers(), Quant::bf16);
  for (const std::string& group : groups_of(text)) {
    const auto quant = quant_of_group(text, group);
    if (!quant) continue;
    for (const std::string& target : names_in(block, group + ".targets")) {
      tensors.say(target == all_linear ? spec::all_of_layers() : spec::modules_named(target), *quant);
    }
  }
}

}  // namespace

std::optional<ConfigObject> quantization_of(const ConfigDocument& document) {
  constexpr std::string_view keys = "quantization_config ?? compression_config ?? quantization";
  auto block = document.root().object(keys);
  return block ? block : document.text_model().object(keys);
}

KeyText keys_of(const ConfigObject& block, const ConfigObject& model) {
  return [=](std::string_view key, Holds holds) {
    return text_of(key == beside_block && !block.has(key) ? model : block, key, holds);
  };
}

std::shared_ptr<const spec::FileTensors> stored_modules(std::string_view text, std::string_view place) {
  const ConfigDocument document(text, place);
  const auto block = quantization_of(document);
  if (!block) return nullptr;
  const KeyText keys = keys_of(*block, document.text_model());
  const auto stored = stored_quant(keys);
  if (!stored || !stored->quant) return nullptr;
  spec::FileTensors tensors;
  tensors.quant = *stored->quant;
  const auto layers = block->value(modules_by_name);
  const bool beside_fp8 = keys("quant_method", Holds::word) == "fp8";
  if (layers && layers->value->is_object()) {
    say_layers(*layers->value, beside_fp8 ? Quant::fp8_block : Quant::bf16, tensors);
  } else if (groups_of(keys).size() > 1) {
    say_groups(*block, keys, tensors);
  }
  if (!layers || !beside_fp8) leave(*block, tensors);
  return tensors.says() ? std::make_shared<const spec::FileTensors>(std::move(tensors)) : nullptr;
}

}  // namespace llmcalc::read
