#include "read/config/steps.hpp"
#include "read/stored_quant.hpp"

#include <array>
#include <string>
#include <string_view>

namespace llmcalc::read {
namespace {

using formats::Quant;

constexpr std::array<std::string_view, 2> blocks = {"quantization_config", "compression_config"};
constexpr Range widths{1, 64};

/// DeepSeek-V4 has it in the model's part, which its class moves (transformers models/deepseek_v4, __post_init__).
constexpr std::string_view beside_block = "expert_dtype";

/// \throws quantity::BadInput at a key that holds something else
std::string text_of(const ConfigObject& block, std::string_view key, Holds holds) {
  const Keys keys(&key, 1);
  switch (holds) {
    case Holds::bits: {
      const auto bits = block.integer(keys, widths);
      return bits ? std::to_string(bits->value) : std::string();
    }
    case Holds::flag: {
      const auto flag = block.boolean(keys);
      return flag && flag->value ? "true" : "";
    }
    case Holds::list: return block.has(keys) ? "list" : "";
    case Holds::word: break;
  }
  const auto word = block.text(keys);
  return word ? word->value : std::string();
}

}  // namespace

std::optional<Found<Quant>> published_quant(const ConfigReader& reader) {
  static constexpr std::array<std::string_view, 2> name_keys = {"quant_method", "quant_algo"};
  auto block = reader.document().root().object(blocks);
  if (!block) block = reader.object().object(blocks);
  if (!block) return std::nullopt;
  const auto text = [&](std::string_view key, Holds holds) {
    const bool beside = key == beside_block && !block->has(Keys(&key, 1));
    return text_of(beside ? reader.object() : *block, key, holds);
  };
  const auto stored = stored_quant(text);
  if (!stored || !stored->quant) return std::nullopt;
  return Found<Quant>{*stored->quant, block->text(name_keys)->pointer};
}

}  // namespace llmcalc::read
