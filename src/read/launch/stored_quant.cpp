#include "read/launch/stored_quant.hpp"

#include "llmcalc/quantity/text.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::read {
namespace {

struct Scheme {
  std::string_view method;  ///< quant_method, with the format or algorithm that decides where there are several
  std::string_view quant;
};

/// transformers utils/quantization_config.py, QuantizationMethod; compressed-tensors config/base.py, CompressionFormat;
/// ModelOpt's quant_algo.
constexpr Scheme schemes[] = {{"fp8", "fp8"},
                              {"fp8 block", "fp8-block"},
                              {"fbgemm_fp8", "fp8"},
                              {"awq 4", "awq"},
                              {"awq", "awq"},
                              {"gptq 4", "gptq"},
                              {"gptq 8", "gptq-8bit"},
                              {"auto-round 4", "gptq"},
                              {"mxfp4", "mxfp4"},
                              {"bitsandbytes 4", "bnb-nf4"},
                              {"bitsandbytes 8", "bnb-int8"},
                              {"compressed-tensors float-quantized", "fp8"},
                              {"compressed-tensors int-quantized", "int8"},
                              {"compressed-tensors pack-quantized", "int4"},
                              {"compressed-tensors nvfp4-pack-quantized", "nvfp4"},
                              {"modelopt fp8", "fp8"},
                              {"modelopt nvfp4", "nvfp4"},
                              {"modelopt w4a16_awq", "awq"}};

std::string word_of(const Node* node) { return node == nullptr ? std::string() : quantity::to_lower(node->text); }

/// What tells the schemes of one method apart.
std::string detail_of(const Node& quantization, std::string_view method) {
  const auto of = [&](std::string_view key) { return word_of(quantization.find(key)); };
  if (method == "fp8" && quantization.find("weight_block_size") != nullptr) return " block";
  if (method == "bitsandbytes") return of("load_in_8bit") == "true" ? " 8" : " 4";
  for (const auto key : {"format", "quant_algo", "bits", "w_bit"}) {
    if (const std::string text = of(key); !text.empty() && method != "fp8") return " " + text;
  }
  return {};
}

}  // namespace

void take_stored_quant(const Node& config, std::string_view place, Reading& reading) {
  const Node* quantization = config.find("quantization_config");
  if (quantization == nullptr) quantization = config.find("quantization");  // hf_quant_config.json
  if (quantization == nullptr || quantization->kind != Node::Kind::table) return;
  const Node* named = quantization->find("quant_method");
  const Node* because = named != nullptr ? named : quantization->find("quant_algo");
  if (because == nullptr) return;
  const std::string method = named != nullptr ? word_of(named) : "modelopt";
  const std::string whole = method + detail_of(*quantization, method);
  const auto* found = std::ranges::find(schemes, whole, &Scheme::method);
  const std::string where = because->where.empty() ? std::string(place) : because->where;
  if (found != std::end(schemes)) {
    reading.words.push_back({"quant", std::string(found->quant), {Source::file, where}});
  } else {
    reading.assumptions.push_back("weights quantized by " + whole + " (" + where + ") are not known: say --quant");
  }
}

}  // namespace llmcalc::read
