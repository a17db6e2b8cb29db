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

std::string word(const KeyText& text, std::string_view key) { return quantity::to_lower(text(key, Holds::word)); }

/// The scheme of the first group, as llm-compressor calls it; files with several groups that differ say
/// "mixed-precision".
std::string compressed_detail(const KeyText& text) {
  std::string format = word(text, "format");
  if (format == "pack-quantized") {
    const std::string bits = text("config_groups.group_0.weights.num_bits", Holds::bits);
    if (!bits.empty()) format += " " + bits;
  }
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

/// Experts in 4 bits are named beside the block size (transformers utils/quantization_config.py, FineGrainedFP8Config).
std::string fp8_detail(const KeyText& text) {
  if (text("weight_block_size", Holds::list).empty()) return "";
  return word(text, "expert_dtype") == "fp4" ? "block fp4" : "block";
}

std::string detail_of(const std::string& method, const KeyText& text) {
  if (method == "fp8") return fp8_detail(text);
  if (method == "bitsandbytes") return bitsandbytes_detail(text);
  if (method == "compressed-tensors") return compressed_detail(text);
  if (method == "modelopt") return word(text, "quant_algo");
  const bool counts_bits = method == "gptq" || method == "awq" || method == "auto-round";
  return counts_bits ? bits_detail(text) : "";
}

}  // namespace

std::optional<StoredQuant> stored_quant(const KeyText& text) {
  std::string scheme = word(text, "quant_method");
  if (scheme.empty() && !text("quant_algo", Holds::word).empty()) scheme = "modelopt";  // hf_quant_config.json
  if (scheme.empty()) return std::nullopt;
  if (const std::string detail = detail_of(scheme, text); !detail.empty()) scheme += " " + detail;
  const auto* found = std::ranges::find(schemes, scheme, &Scheme::name);
  const auto quant = found == std::end(schemes) ? std::nullopt : std::optional(found->quant);
  return StoredQuant{std::move(scheme), quant};
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
