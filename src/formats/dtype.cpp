#include "llmcalc/formats/dtype.hpp"

#include "formats/inner/table_order.hpp"

#include <array>

namespace llmcalc::formats {

namespace {

constexpr std::string_view ieee_754 = "IEEE 754-2019, table 3.5";
constexpr std::string_view ampere = "NVIDIA A100 architecture whitepaper (2020): a compute mode, at rest an fp32";
constexpr std::string_view bfloat = "Wang and Kanwar 2019, BFloat16: the secret to high performance on Cloud TPUs";
constexpr std::string_view ofp8 = "OCP 8-bit floating point specification (OFP8) 1.0, tables 1 and 2";
constexpr std::string_view integer = "two's complement; one scale per tensor or row, not counted";
constexpr std::string_view qlora = "Dettmers et al. 2023 (QLoRA), arXiv:2305.14314, section 3: fp32 absmax per 64";
constexpr std::string_view qlora_double =
    "Dettmers et al. 2023 (QLoRA), arXiv:2305.14314, section 3: 8-bit absmax per 64, one fp32 per 256 of those";
constexpr std::string_view bitsandbytes = "bitsandbytes functional.py quantize_4bit: fp32 absmax per 64";
constexpr std::string_view bitsandbytes_double =
    "bitsandbytes functional.py quantize_4bit, compress_statistics: 8-bit absmax per 64, one fp32 per 256 of those";
constexpr std::string_view gptq =
    "AutoGPTQ qlinear layout, group size 128: fp16 scale and packed zero point of the weights' width per group";
constexpr std::string_view mx = "OCP microscaling formats (MX) specification 1.0, table 1: E8M0 scale per 32";
constexpr std::string_view nvidia_fp4 =
    "NVIDIA Transformer Engine, NVFP4: E4M3 scale per 16 elements and one fp32 scale per tensor";

constexpr BlockScale unscaled{};
constexpr BlockScale absmax_per_64{.block = 64, .scale_bytes = 4};
constexpr BlockScale quantized_absmax_per_64{.block = 64, .scale_bytes = 1, .nested_block = 256, .nested_bytes = 4};
constexpr BlockScale e8m0_per_32{.block = 32, .scale_bytes = 1};
constexpr BlockScale e4m3_per_16{.block = 16, .scale_bytes = 1, .tensor_bytes = 4};

constexpr BlockScale gptq_group(std::int64_t zero_bits) {
  return {.block = 128, .scale_bytes = 2, .zero_bits = zero_bits};
}

// In the order of the enumeration, so that facts() is an index.
constexpr std::array dtypes{
    DtypeFacts{Dtype::fp64, "fp64", 64, 11, 52, unscaled, ieee_754},
    DtypeFacts{Dtype::fp32, "fp32", 32, 8, 23, unscaled, ieee_754},
    DtypeFacts{Dtype::tf32, "tf32", 32, 8, 10, unscaled, ampere},
    DtypeFacts{Dtype::fp16, "fp16", 16, 5, 10, unscaled, ieee_754},
    DtypeFacts{Dtype::bf16, "bf16", 16, 8, 7, unscaled, bfloat},
    DtypeFacts{Dtype::fp8_e4m3, "fp8-e4m3", 8, 4, 3, unscaled, ofp8},
    DtypeFacts{Dtype::fp8_e5m2, "fp8-e5m2", 8, 5, 2, unscaled, ofp8},
    DtypeFacts{Dtype::int8, "int8", 8, 0, 7, unscaled, integer},
    DtypeFacts{Dtype::int4, "int4", 4, 0, 3, unscaled, integer},
    DtypeFacts{Dtype::nf4, "nf4", 4, 0, 0, absmax_per_64, qlora},
    DtypeFacts{Dtype::nf4_dq, "nf4-dq", 4, 0, 0, quantized_absmax_per_64, qlora_double},
    DtypeFacts{Dtype::fp4, "fp4", 4, 2, 1, absmax_per_64, bitsandbytes},
    DtypeFacts{Dtype::fp4_dq, "fp4-dq", 4, 2, 1, quantized_absmax_per_64, bitsandbytes_double},
    DtypeFacts{Dtype::int4_gptq, "int4-gptq", 4, 0, 3, gptq_group(4), gptq},
    DtypeFacts{Dtype::int8_gptq, "int8-gptq", 8, 0, 7, gptq_group(8), gptq},
    DtypeFacts{Dtype::mxfp8, "mxfp8", 8, 4, 3, e8m0_per_32, mx},
    DtypeFacts{Dtype::mxfp4, "mxfp4", 4, 2, 1, e8m0_per_32, mx},
    DtypeFacts{Dtype::nvfp4, "nvfp4", 4, 2, 1, e4m3_per_16, nvidia_fp4},
};

static_assert(in_enumeration_order(dtypes, &DtypeFacts::dtype));

/// ceil(count x bits / 8) without a product that overflows where the result does not.
std::int64_t packed_bytes(std::int64_t count, std::int64_t bits) {
  const std::int64_t in_whole_octets = quantity::checked_multiply(count / 8, bits);
  return quantity::checked_add(in_whole_octets, quantity::ceil_divide(count % 8 * bits, 8));
}

std::int64_t scale_bytes(const BlockScale& scale, std::int64_t elements) {
  if (scale.block == 0) return 0;
  const std::int64_t scales = quantity::ceil_divide(elements, scale.block);
  std::int64_t total = quantity::checked_multiply(scales, scale.scale_bytes);
  total = quantity::checked_add(total, packed_bytes(scales, scale.zero_bits));
  if (scale.nested_block > 0) {
    const std::int64_t nested = quantity::ceil_divide(scales, scale.nested_block);
    total = quantity::checked_add(total, quantity::checked_multiply(nested, scale.nested_bytes));
  }
  return quantity::checked_add(total, elements > 0 ? scale.tensor_bytes : 0);
}

}  // namespace

std::span<const DtypeFacts> all_dtypes() { return dtypes; }

const DtypeFacts& facts(Dtype dtype) { return dtypes.at(static_cast<std::size_t>(dtype)); }

bool is_quantized(Dtype dtype) { return facts(dtype).bits <= 8 && !is_narrow_float(dtype); }

quantity::Bytes storage_bytes(Dtype dtype, std::int64_t elements) {
  const auto& f = facts(dtype);
  return quantity::bytes(packed_bytes(elements, f.bits)) + quantity::bytes(scale_bytes(f.scale, elements));
}

quantity::BitsPerElement average_bits(Dtype dtype) {
  const auto& f = facts(dtype);
  double bits_per_scale = 8.0 * static_cast<double>(f.scale.scale_bytes) + static_cast<double>(f.scale.zero_bits);
  if (f.scale.nested_block > 0) {
    bits_per_scale += 8.0 * static_cast<double>(f.scale.nested_bytes) / static_cast<double>(f.scale.nested_block);
  }
  const double share = f.scale.block > 0 ? bits_per_scale / static_cast<double>(f.scale.block) : 0.0;
  return quantity::bits_per_element(f.bits + share);
}

}  // namespace llmcalc::formats
