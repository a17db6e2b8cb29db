#include "read/trainers/torch_rules.hpp"

#include "llmcalc/quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace llmcalc::read {
namespace {

/// "torch.bfloat16", "bfloat16", "bf16": the last.
std::string_view half_or_single(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(std::string_view("torch.").size());
  if (name == "bfloat16" || name == "bf16") return "bf16";
  if (name == "float16" || name == "fp16" || name == "half") return "fp16";
  if (name == "float32" || name == "fp32" || name == "float") return "fp32";
  return {};
}

/// A switch that also says "auto" (bf16 where the accelerator has it) or "full".
const Setting* chosen(const Sheet& sheet, std::string_view key) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr) return nullptr;
  const std::string word = quantity::to_lower(setting->text);
  const bool on = sheet.truth(key).value_or(word == "auto" || word == "full");
  return on ? setting : nullptr;
}

struct Projection {
  std::string_view name;     ///< as modules are called
  std::string_view targets;  ///< as --lora-targets calls them
};

/// Module names of transformers' and torchtune's models.
constexpr Projection projections[] = {
    {"q_proj", "q"},
    {"k_proj", "k"},
    {"v_proj", "v"},
    {"o_proj", "o"},
    {"out_proj", "o"},
    {"output_proj", "o"},
    {"gate_proj", "gate"},
    {"up_proj", "up"},
    {"down_proj", "down"},
    {"gate_up_proj", "gate,up"},
    {"qkv_proj", "q,k,v"},
    {"query_key_value", "q,k,v"},
    {"c_attn", "q,k,v"},
    {"w_pack", "q,k,v"},
    {"dense", "o"},
    {"dense_h_to_4h", "fc1"},
    {"dense_4h_to_h", "fc2"},
    {"fc1", "fc1"},
    {"fc2", "fc2"},
    {"fc_in", "fc1"},
    {"fc_out", "fc2"},
    {"wq", "q"},
    {"wk", "k"},
    {"wv", "v"},
    {"wo", "o"},
    {"w1", "gate"},
    {"w2", "down"},
    {"w3", "up"},
    {"embed_tokens", "embed"},
    {"lm_head", "head"},
    {"linear_qkv", "q,k,v"},
    {"linear_proj", "o"},
    {"linear_fc1", "gate,up"},
    {"linear_fc2", "down"},
};

constexpr std::array<std::string_view, 4> everything{"all", "all-linear", "all_linear", "linear"};

/// "q_proj, v_proj" and "q_proj v_proj".
std::vector<std::string> names_in(const Setting& setting) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : setting.text + ",") {
    if (c != ',' && c != ' ' && c != '[' && c != ']' && c != '\'' && c != '"') {
      name += quantity::to_lower(c);
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

}  // namespace

void take_precision(Sheet& sheet, std::initializer_list<std::string_view> dtype_keys, Loads loads) {
  const Setting* bf16 = chosen(sheet, "bf16");
  const Setting* half = bf16 != nullptr ? bf16 : chosen(sheet, "fp16");
  const Setting* dtype = sheet.find(dtype_keys);
  const std::string_view loaded = dtype == nullptr ? std::string_view() : half_or_single(sheet.text(dtype_keys));
  const std::string word = bf16 != nullptr ? "bf16" : "fp16";
  if (bf16 != nullptr && quantity::to_lower(bf16->text) == "auto") {
    sheet.assume(*bf16, "an accelerator that has bf16");
  }
  if (loaded == "bf16" || loaded == "fp16") {
    sheet.say("dtype", std::string(loaded), *dtype);
  } else if (half != nullptr) {
    const bool engine = sheet.has("framework") && sheet.find("deepspeed") != nullptr;
    const bool autocasts = !engine && (loads == Loads::fp32 || loaded == "fp32");
    sheet.say("dtype", (autocasts ? "mixed-" : "") + word, *half);
    if (autocasts && loaded.empty()) {
      sheet.assume(*half, "weights are loaded in fp32, as transformers 4 and trl do where no dtype is said");
    }
  } else if (loaded == "fp32") {
    sheet.say("dtype", "fp32", *dtype);
  }
  const bool single = half == nullptr && loaded != "bf16" && loaded != "fp16";
  if (single && sheet.is_on("tf32")) sheet.say("compute", "tf32", sheet.said("tf32"));
}

void widen_under_fsdp(Sheet& sheet) {
  const Given* sharding = sheet.word("sharding");
  const Given* dtype = sheet.word("dtype");
  const Given* method = sheet.word("method");
  const bool trains_all = method == nullptr || method->text == "full";
  const Setting* mixed = sheet.find({"bf16", "fp16"});
  if (sharding == nullptr || dtype == nullptr || mixed == nullptr || !trains_all) return;
  const bool half = dtype->text == "bf16" || dtype->text == "fp16";
  if (half && sharding->text != "ddp") sheet.say("dtype", "mixed-" + std::string(dtype->text), *mixed);
}

bool take_quantization(Sheet& sheet, Nested usual) {
  const auto bits = sheet.count("quantization_bit");
  const Setting* four = bits == 4 ? sheet.find("quantization_bit") : chosen(sheet, "load_in_4bit");
  const Setting* eight = bits == 8 ? sheet.find("quantization_bit") : chosen(sheet, "load_in_8bit");
  if (four == nullptr && eight == nullptr) return false;
  if (four == nullptr) {
    sheet.say("weights", "int8", *eight);
    return true;
  }
  const Setting* twice = sheet.find({"bnb_4bit_use_double_quant", "bnb_config_kwargs.bnb_4bit_use_double_quant",
                                     "use_bnb_nested_quant", "double_quantization"});
  const std::string kind = sheet.text({"bnb_4bit_quant_type", "quantization_type"});
  const bool nested = twice == nullptr ? usual == Nested::yes : chosen(sheet, twice->key) != nullptr;
  sheet.say("weights", (kind == "fp4" ? "fp4" : "nf4") + std::string(nested ? "-dq" : ""), *four);
  return true;
}

void take_targets(Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr || says_nothing(*setting)) return;
  std::string targets;
  std::string unknown;
  for (const auto& name : names_in(*setting)) {
    if (std::ranges::find(everything, name) != everything.end())
      return sheet.say("lora_targets", "all-linear", *setting);
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    const auto* found = std::ranges::find(projections, last, &Projection::name);
    const bool known = found != std::end(projections);
    auto& list = known ? targets : unknown;
    list.append(list.empty() ? "" : ",").append(known ? found->targets : std::string_view(name));
  }
  if (!unknown.empty()) {
    sheet.assume(*setting, targets.empty() ? "all linear layers, for which --lora-targets may say others"
                                           : "modules " + unknown + " carry no adapter");
  }
  sheet.say("lora_targets", targets.empty() ? "all-linear" : targets, *setting);
}

void take_recompute(Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr) return;
  const std::string word = quantity::to_lower(setting->text);
  const bool offloads = word.starts_with("offload") || word == "unsloth";
  const bool on = sheet.truth(keys).value_or(offloads);
  sheet.say("recompute", on ? "full" : "none", *setting);
  if (offloads) sheet.say("offload", "activations", *setting);
}

void take_optimizer_impl(Sheet& sheet) {
  const Setting* setting = sheet.find({"optim", "optimizer"});
  if (setting == nullptr) return;
  const std::string word = quantity::to_lower(setting->text);
  if (word == "adamw_torch_fused") sheet.say("optimizer_impl", "fused", *setting);
  if (word == "adamw_torch") sheet.say("optimizer_impl", "foreach", *setting);
}

void take_deepspeed(Sheet& sheet, std::string_view key, std::string_view batch) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr || says_nothing(*setting)) return;
  sheet.say("framework", "deepspeed", *setting);
  if (!batch.empty()) sheet.by_default("micro_batch", std::string(batch), "the trainer's default");
  sheet.include(*setting);
}

void take_zero(Sheet& sheet, std::string_view stage, std::string_view optimizer, std::string_view params) {
  if (const Setting* said = sheet.find(stage); said != nullptr && !says_nothing(*said)) {
    sheet.say("sharding", said->text == "0" ? "ddp" : "zero" + said->text, *said);
  }
  const auto moved = [&](std::string_view key) {
    const Setting* device = sheet.find(key);
    return device == nullptr || says_nothing(*device) ? nullptr : device;
  };
  const Setting* states = moved(optimizer);
  const Setting* weights = moved(params);
  if (weights != nullptr) sheet.say("offload", states != nullptr ? "params+optimizer" : "params", *weights);
  if (weights == nullptr && states != nullptr) sheet.say("offload", "optimizer", *states);
  for (const Setting* each : {weights, states}) {
    if (each != nullptr && quantity::to_lower(each->text) == "nvme") sheet.say("offload_to", "nvme", *each);
  }
}

void take_liger(Sheet& sheet, std::string_view key) {
  if (!sheet.is_on(key)) return;
  sheet.say("fused_kernels", "1", *sheet.find(key));
  sheet.say("loss", "fused-linear", *sheet.find(key));
}

}  // namespace llmcalc::read
