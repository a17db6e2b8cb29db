// Which block format llama.cpp's file types give each tensor.
#pragma once

#include "llmcalc/formats/ggml_type.hpp"
#include "llmcalc/formats/quant.hpp"
#include "serving/weights.hpp"

#include <cstdint>

namespace llmcalc::serving {

struct GgufModel {
  formats::Quant quant = formats::Quant::bf16;
  std::int64_t layers = 0;
  std::int64_t attention_layers = 0;
  std::int64_t group_query = 1;  ///< query heads for each head of keys and values
  std::int64_t experts = 0;
  bool tied = false;
  bool imatrix = true;
  bool from_mxfp4 = false;  ///< whose experts stay in it

  /// llama-quant.cpp calls it LLM_TYPE_70B: 80 layers that share keys and values among 8 query heads.
  bool is_70b() const { return layers == 80 && group_query == 8; }
};

struct GgufTensor {
  Use role = Use::vector;
  bool expert = false;
  LayerPlace place;
  std::int64_t width = 0;  ///< elements of a row
};

/// llama.cpp src/llama-quant.cpp, llama_tensor_get_type.
formats::GgmlType gguf_type(const GgufModel& model, const GgufTensor& tensor);

}  // namespace llmcalc::serving
