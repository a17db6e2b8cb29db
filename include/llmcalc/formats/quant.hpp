// How the weights of a checkpoint rest, as its publisher names it: the words behind --quant.
#pragma once

#include "llmcalc/formats/ggml_type.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace llmcalc::formats {

enum class Quant {
  bf16,  ///< unquantized
  f16,
  f32,
  fp8,        ///< one scale a tensor or output channel
  fp8_block,  ///< one scale for 128 x 128 elements (DeepSeek-V3)
  fp8_mxfp4,  ///< the same, with routed experts in MXFP4 (DeepSeek-V4)
  mxfp8,
  int8,
  int8_a16,  ///< weights alone
  int4,      ///< weights alone, in groups (compressed-tensors W4A16)
  awq,
  gptq,
  gptq_8bit,
  bnb_nf4,
  bnb_nf4_single,  ///< the same or FP4, with scales in fp32
  bnb_int8,
  nvfp4,
  nvfp4_a16,  ///< weights alone (ModelOpt W4A16_NVFP4)
  mxfp4,
  // File types of llama.cpp: mixtures of block formats, chosen tensor by tensor.
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q2_k_s,
  q3_k_s,
  q3_k_m,
  q3_k_l,
  q4_k_s,
  q4_k_m,
  q5_k_s,
  q5_k_m,
  q6_k,
  iq1_s,
  iq1_m,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq2_m,
  iq3_xxs,
  iq3_xs,
  iq3_s,
  iq3_m,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  q1_0,
  q2_0,
  mxfp4_moe
};

/// Which tensors a scheme quantizes; what it leaves rests in 16 bits.
enum class Coverage {
  nothing,
  layers,   ///< the matrices of the layers: not tables, head, norms and router
  experts,  ///< those of routed experts alone (gpt-oss in MXFP4)
  file      ///< every matrix, by the rule of llama.cpp's file types
};

/// How a matrix of `rows` inputs and `columns` outputs rests under a scheme that is not one of llama.cpp's.
struct QuantFacts {
  Quant quant;
  std::string_view name;
  Coverage covers = Coverage::nothing;
  std::string_view source;
  std::optional<GgmlType> base{};  ///< of llama.cpp's file types, the block format that most tensors are in
  int bits = 16;
  std::int64_t group = 0;             ///< inputs that share a scale (and zero point); 0: no groups
  int group_bits = 0;                 ///< of that scale and zero point together
  std::int64_t tile = 0;              ///< of tile x tile elements that share a 4-byte scale
  bool channel_scale = false;         ///< 4 bytes for each output
  std::optional<Quant> of_experts{};  ///< the scheme of routed experts, where it is another
  bool narrows_towers = false;        ///< encoders of images and sound too, not the text model alone
};

const QuantFacts& facts(Quant quant);
std::span<const QuantFacts> all_quants();

/// A whole number of bits a weight and no scales: what each weight of any tensor takes.
constexpr bool is_plain(Quant quant) { return quant <= Quant::f32; }

constexpr bool is_nvfp4(Quant quant) { return quant == Quant::nvfp4 || quant == Quant::nvfp4_a16; }

/// Matrices of the layers rest as floats of 8 bits.
constexpr bool is_fp8(Quant quant) { return quant >= Quant::fp8 && quant <= Quant::mxfp8; }

/// The scheme of the experts' matrices of a checkpoint.
Quant of_experts(Quant quant);

/// Names that GGUF files go by.
bool is_file_type(Quant quant);

/// Bytes of a matrix at rest. \param group  instead of the scheme's own; 0: that
quantity::Bytes storage_bytes(const QuantFacts& facts, std::int64_t rows, std::int64_t columns, std::int64_t group);

}  // namespace llmcalc::formats
