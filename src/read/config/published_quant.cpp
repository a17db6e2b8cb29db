#include "read/config/steps.hpp"

#include <array>
#include <string_view>

namespace llmcalc::read {
namespace {

using formats::Quant;
using OneKey = std::array<std::string_view, 1>;

constexpr std::array<std::string_view, 2> blocks = {"quantization_config", "compression_config"};
constexpr Range widths{1, 64};

/// How a file says in which type its weights are.
struct Spelling {
  std::string_view method;  ///< quant_method: the quantizers of transformers 5.23.0, quantizers/auto.py
  std::string_view detail;  ///< of the key that tells its types apart
  Quant quant;
};

/// In `detail`: compressed-tensors' format (compressed_tensors/config/base.py, CompressionFormat), ModelOpt's
/// quant_algo.
constexpr Spelling spellings[] = {
    {"mxfp4", "", Quant::mxfp4},
    {"awq", "", Quant::awq},
    {"fp8", "", Quant::fp8},
    {"fbgemm_fp8", "", Quant::fp8},
    {"compressed-tensors", "float-quantized", Quant::fp8},
    {"compressed-tensors", "int-quantized", Quant::int8},
    {"compressed-tensors", "pack-quantized", Quant::int4},
    {"compressed-tensors", "nvfp4-pack-quantized", Quant::nvfp4},
    {"compressed-tensors", "mxfp4-pack-quantized", Quant::mxfp4},
    {"modelopt", "FP8", Quant::fp8},
    {"modelopt", "NVFP4", Quant::nvfp4},
};

std::string detail_of(const ConfigObject& block) {
  static constexpr std::array<std::string_view, 2> details = {"format", "quant_algo"};
  const auto found = block.text(details);
  return found ? found->value : std::string();
}

std::optional<Quant> spelled(const std::string& method, const ConfigObject& block) {
  const auto detail = detail_of(block);
  for (const Spelling& known : spellings) {
    if (known.method == method && (known.detail.empty() || known.detail == detail)) return known.quant;
  }
  return std::nullopt;
}

/// Those whose keys say more than a word: GPTQ's bits, bitsandbytes' switches, the 128 x 128 blocks of DeepSeek-V3.
std::optional<Quant> quant_of(const std::string& method, const ConfigObject& block) {
  static constexpr OneKey bits_key = {"bits"};
  static constexpr OneKey in_8bit = {"load_in_8bit"};
  static constexpr OneKey block_size = {"weight_block_size"};
  if (method == "gptq") {
    const auto bits = block.integer(bits_key, widths);
    return bits && bits->value == 8 ? Quant::gptq_8bit : Quant::gptq;
  }
  if (method == "bitsandbytes") {
    const auto wide = block.boolean(in_8bit);
    return wide && wide->value ? Quant::bnb_int8 : Quant::bnb_nf4;
  }
  if (method == "fp8" && block.has(block_size)) return Quant::fp8_block;
  return spelled(method, block);
}

}  // namespace

std::optional<Found<Quant>> published_quant(const ConfigReader& reader) {
  static constexpr OneKey method_key = {"quant_method"};
  auto block = reader.document().root().object(blocks);
  if (!block) block = reader.object().object(blocks);
  if (!block) return std::nullopt;
  const auto method = block->text(method_key);
  if (!method) return std::nullopt;
  const auto quant = quant_of(method->value, *block);
  return quant ? std::optional(Found<Quant>{*quant, method->pointer}) : std::nullopt;
}

}  // namespace llmcalc::read
