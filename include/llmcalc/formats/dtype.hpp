// Number formats: how many bits an element takes, and exactly how many bytes a tensor of them takes.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace llmcalc::formats {

enum class Dtype {
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  int8,
  int4,
  nf4,
  nf4_dq,
  fp4,
  fp4_dq,
  int4_gptq,
  int8_gptq,
  mxfp8,
  mxfp4,
  nvfp4
};

/// A block-scaled format stores, for each `block` elements of a tensor, one scale of `scale_bytes` and, where it is
/// affine, one packed zero point of `zero_bits`; double quantization stores for each `nested_block` scales one more
/// of `nested_bytes`; a second-level scale stores `tensor_bytes` once.
struct BlockScale {
  std::int64_t block = 0;  ///< elements per scale; 0: no scales
  std::int64_t scale_bytes = 0;
  std::int64_t nested_block = 0;
  std::int64_t nested_bytes = 0;
  std::int64_t zero_bits = 0;
  std::int64_t tensor_bytes = 0;
};

struct DtypeFacts {
  Dtype dtype;
  std::string_view name;
  int bits;           ///< storage bits of one element, scales not counted
  int exponent_bits;  ///< 0 for integers and codebooks
  int fraction_bits;  ///< stored bits of the significand; for integers all bits but the sign
  BlockScale scale;
  std::string_view source;
};

std::span<const DtypeFacts> all_dtypes();
const DtypeFacts& facts(Dtype dtype);

/// Formats of less than 16 bits that tensor cores multiply, and whose weights are trained through a master copy.
constexpr bool is_narrow_float(Dtype dtype) {
  return dtype == Dtype::fp8_e4m3 || dtype == Dtype::fp8_e5m2 || dtype == Dtype::mxfp8 || dtype == Dtype::nvfp4;
}

/// Formats in which weights only rest: codes beside scales, widened before each product (QLoRA, arXiv:2305.14314
/// section 3; GPTQ, arXiv:2210.17323), so that nothing trains them.
bool is_quantized(Dtype dtype);

/// Bytes of a tensor of `elements` elements at rest, scales included, to the byte.
/// \pre elements >= 0
quantity::Bytes storage_bytes(Dtype dtype, std::int64_t elements);

/// Average bits of one element of a very large tensor, scales included: 4.126953125 for nf4-dq.
quantity::BitsPerElement average_bits(Dtype dtype);

}  // namespace llmcalc::formats
