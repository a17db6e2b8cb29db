// The block formats of ggml, in which GGUF files hold their tensors.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace llmcalc::formats {

enum class GgmlType {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq1_s,
  iq1_m,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0,
  q2_0,
  q8_1,
  q8_k,
  i8,
  i16,
  i32,
  i64,
  f64
};

struct GgmlFacts {
  GgmlType type;
  std::string_view name;
  std::int64_t block;  ///< elements of a row that are packed together
  std::int64_t bytes;  ///< of such a block
  std::uint32_t id;    ///< by which GGUF files name it
};

/// Block sizes of llama.cpp ggml/src/ggml-common.h and gguf-py/gguf/constants.py (GGML_QUANT_SIZES).
const GgmlFacts& facts(GgmlType type);
std::span<const GgmlFacts> all_ggml_types();

/// True if rows of so many elements come out in whole blocks, which ggml asks of every tensor.
bool packs_rows(GgmlType type, std::int64_t columns);

/// Bytes of a matrix of so many elements in rows of `columns`.
/// \pre packs_rows(type, columns)
quantity::Bytes storage_bytes(GgmlType type, std::int64_t elements);

}  // namespace llmcalc::formats
