#include "quantity/text.hpp"
#include "read/checkpoint.hpp"

#include <algorithm>
#include <iterator>

namespace llmcalc::read {
namespace {

using formats::Quant;

struct Scheme {
  std::string_view name;  ///< quant_method, with what tells its types apart
  Quant quant;
};

constexpr Scheme schemes[] = {
#include "formats/stored_schemes.inc"
};

constexpr std::string_view mixed_groups = "mixed-precision";

std::string word(const KeyText& text, std::string_view key) { return quantity::to_lower(text(key, Holds::word)); }

constexpr std::string_view first_group = "config_groups.group_0";

/// Whether its inputs stay in 16 bits; a file without the group says nothing of them.
bool narrows_weights_alone(const KeyText& text, std::string_view group) {
  const auto bits = [&](std::string_view what) {
    return text(std::string(group).append(what).append(".num_bits"), Holds::bits);
  };
  return !bits(".weights").empty() && bits(".input_activations").empty();
}

/// The scheme of the first group, as llm-compressor calls it; files with several groups that differ say
/// "mixed-precision".
std::string compressed_detail(const KeyText& text) {
  std::string format = word(text, "format");
  if (format == "pack-quantized") {
    const std::string bits = text("config_groups.group_0.weights.num_bits", Holds::bits);
    if (!bits.empty()) format += " " + bits;
  }
  if (format == "nvfp4-pack-quantized" && narrows_weights_alone(text, first_group)) format += " a16";
  const bool in_blocks = word(text, "config_groups.group_0.weights.strategy") == "block";
  return format == "float-quantized" && in_blocks ? format + " block" : format;
}

/// The configuration that transformers saves says whether scales were quantized too (BitsAndBytesConfig, to_dict).
std::string bitsandbytes_detail(const KeyText& text) {
  if (text("load_in_8bit", Holds::flag) == "true") return "8";
  if (text("load_in_4bit", Holds::flag) != "true") return "";
  return text("bnb_4bit_use_double_quant", Holds::flag) == "false" ? "4 single" : "4";
}

/// AutoAWQ's own files call the bits w_bit.
std::string bits_detail(const KeyText& text) {
  const std::string bits = text("bits", Holds::bits);
  return bits.empty() ? text("w_bit", Holds::bits) : bits;
}

/// Experts in 4 bits are named beside the block size (transformers utils/quantization_config.py, FineGrainedFP8Config),
/// or module by module.
std::string fp8_detail(const KeyText& text) {
  if (text("weight_block_size", Holds::list).empty()) return "";
  if (!text(modules_by_name, Holds::list).empty()) return "block layers";
  return word(text, "expert_dtype") == "fp4" ? "block fp4" : "block";
}

std::string modelopt_detail(const KeyText& text) {
  const std::string algorithm = word(text, "quant_algo");
  const bool by_layers = algorithm == "mixed_precision" && !text(modules_by_name, Holds::list).empty();
  return by_layers ? algorithm + " layers" : algorithm;
}

std::optional<Quant> known_scheme(const std::string& scheme) {
  const auto* found = std::ranges::find(schemes, scheme, &Scheme::name);
  return found == std::end(schemes) ? std::nullopt : std::optional(found->quant);
}

std::optional<Quant> narrowest_group(const KeyText& text) {
  std::optional<Quant> narrowest;
  for (const std::string& group : groups_of(text)) {
    const auto quant = quant_of_group(text, group);
    if (quant && (!narrowest || formats::facts(*quant).bits < formats::facts(*narrowest).bits)) narrowest = quant;
  }
  return narrowest;
}

std::string detail_of(const std::string& method, const KeyText& text) {
  if (method == "fp8") return fp8_detail(text);
  if (method == "bitsandbytes") return bitsandbytes_detail(text);
  if (method == "compressed-tensors") return compressed_detail(text);
  if (method == "modelopt") return modelopt_detail(text);
  const bool counts_bits = method == "gptq" || method == "awq" || method == "auto-round";
  return counts_bits ? bits_detail(text) : "";
}

}  // namespace

std::optional<StoredQuant> stored_quant(const KeyText& text) {
  std::string scheme = word(text, "quant_method");
  if (scheme.empty() && !text("quant_algo", Holds::word).empty()) scheme = "modelopt";  // hf_quant_config.json
  if (scheme.empty()) return std::nullopt;
  if (const std::string detail = detail_of(scheme, text); !detail.empty()) scheme += " " + detail;
  auto quant = known_scheme(scheme);
  if (!quant && word(text, "format") == mixed_groups) quant = narrowest_group(text);
  return StoredQuant{std::move(scheme), quant};
}

std::optional<Quant> quant_of_modelopt(std::string_view algorithm) {
  return known_scheme("modelopt " + quantity::to_lower(algorithm));
}

std::vector<std::string> groups_of(const KeyText& text) {
  std::vector<std::string> groups;
  for (;;) {
    std::string group = "config_groups.group_" + std::to_string(groups.size());
    if (text(group + ".weights.num_bits", Holds::bits).empty()) return groups;
    groups.push_back(std::move(group));
  }
}

/// compressed_tensors quantization/quant_scheme.py, PRESET_SCHEMES.
std::optional<Quant> quant_of_group(const KeyText& text, const std::string& group) {
  const std::string bits = text(group + ".weights.num_bits", Holds::bits);
  const bool is_float = word(text, group + ".weights.type") == "float";
  const bool by_32 = text(group + ".weights.group_size", Holds::size) == "32";
  if (bits == "4" && !is_float) return Quant::int4;
  const bool alone = narrows_weights_alone(text, group);
  if (bits == "4") return by_32 ? Quant::mxfp4 : alone ? Quant::nvfp4_a16 : Quant::nvfp4;
  if (bits != "8") return std::nullopt;
  if (!is_float) return alone ? Quant::int8_a16 : Quant::int8;
  return by_32 ? Quant::mxfp8 : word(text, group + ".weights.strategy") == "block" ? Quant::fp8_block : Quant::fp8;
}

/// vLLM utils/torch_utils.py, get_kv_cache_quant_algo_string, and model_executor/layers/attention/attention.py for
/// compressed-tensors; SGLang model_executor/model_runner.py, configure_kv_cache_dtype; TensorRT-LLM
/// llmapi/llm_args.py, kv_cache_quant_algo.
std::string stored_cache(const KeyText& text) {
  if (std::string algorithm = word(text, "kv_cache_quant_algo"); !algorithm.empty()) return algorithm;
  const std::string bits = text("kv_cache_scheme.num_bits", Holds::bits);
  if (bits.empty()) return {};
  const std::string type = word(text, "kv_cache_scheme.type") == "float" ? "fp" : "int";
  return type + bits;
}

}  // namespace llmcalc::read
