#include "llmcalc/formats/dtype.hpp"

#include "llmcalc/formats/ggml_type.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace llmcalc::formats {

namespace {

/// \param key  the member of a row that names its enumerator
template <class Table, class Row, class Enum>
constexpr bool in_enumeration_order(const Table& table, Enum Row::*key) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].*key != static_cast<Enum>(i)) return false;
  }
  return true;
}

// In the order of the enumeration, so that facts() is an index.
constexpr std::array types{
    GgmlFacts{GgmlType::f32, "F32", 1, 4},
    GgmlFacts{GgmlType::f16, "F16", 1, 2},
    GgmlFacts{GgmlType::bf16, "BF16", 1, 2},
    GgmlFacts{GgmlType::q4_0, "Q4_0", 32, 18},
    GgmlFacts{GgmlType::q4_1, "Q4_1", 32, 20},
    GgmlFacts{GgmlType::q5_0, "Q5_0", 32, 22},
    GgmlFacts{GgmlType::q5_1, "Q5_1", 32, 24},
    GgmlFacts{GgmlType::q8_0, "Q8_0", 32, 34},
    GgmlFacts{GgmlType::q2_k, "Q2_K", 256, 84},
    GgmlFacts{GgmlType::q3_k, "Q3_K", 256, 110},
    GgmlFacts{GgmlType::q4_k, "Q4_K", 256, 144},
    GgmlFacts{GgmlType::q5_k, "Q5_K", 256, 176},
    GgmlFacts{GgmlType::q6_k, "Q6_K", 256, 210},
    GgmlFacts{GgmlType::iq1_s, "IQ1_S", 256, 50},
    GgmlFacts{GgmlType::iq1_m, "IQ1_M", 256, 56},
    GgmlFacts{GgmlType::iq2_xxs, "IQ2_XXS", 256, 66},
    GgmlFacts{GgmlType::iq2_xs, "IQ2_XS", 256, 74},
    GgmlFacts{GgmlType::iq2_s, "IQ2_S", 256, 82},
    GgmlFacts{GgmlType::iq3_xxs, "IQ3_XXS", 256, 98},
    GgmlFacts{GgmlType::iq3_s, "IQ3_S", 256, 110},
    GgmlFacts{GgmlType::iq4_nl, "IQ4_NL", 32, 18},
    GgmlFacts{GgmlType::iq4_xs, "IQ4_XS", 256, 136},
    GgmlFacts{GgmlType::tq1_0, "TQ1_0", 256, 54},
    GgmlFacts{GgmlType::tq2_0, "TQ2_0", 256, 66},
    GgmlFacts{GgmlType::mxfp4, "MXFP4", 32, 17},
    GgmlFacts{GgmlType::nvfp4, "NVFP4", 64, 36},
    GgmlFacts{GgmlType::q1_0, "Q1_0", 128, 18},
    GgmlFacts{GgmlType::q2_0, "Q2_0", 64, 18},
};

static_assert(in_enumeration_order(types, &GgmlFacts::type));

}  // namespace

const GgmlFacts& facts(GgmlType type) { return types.at(static_cast<std::size_t>(type)); }

std::span<const GgmlFacts> all_ggml_types() { return types; }

bool packs_rows(GgmlType type, std::int64_t columns) { return columns % facts(type).block == 0; }

quantity::Bytes storage_bytes(GgmlType type, std::int64_t elements) {
  const GgmlFacts& f = facts(type);
  return quantity::bytes(quantity::checked_multiply(elements / f.block, f.bytes));
}

namespace {

constexpr std::string_view plain = "as stored";
constexpr std::string_view compressed = "compressed-tensors: one fp32 scale an output channel";
constexpr std::string_view deepseek = "DeepSeek-V3 (arXiv:2412.19437 section 3.3.2): one fp32 scale for 128 x 128";
constexpr std::string_view autogptq = "AutoGPTQ qlinear: fp16 scale and packed zero point a group of 128 inputs";
constexpr std::string_view w4a16 = "compressed-tensors pack-quantized, symmetric: 16-bit scale a group of 128 inputs";
constexpr std::string_view awq = "AutoAWQ WQLinear_GEMM: fp16 scale and packed zero point a group of 128 inputs";
constexpr std::string_view bitsandbytes =
    "bitsandbytes quantize_4bit with nested statistics: absmax per 64, fp32 per 256";
constexpr std::string_view llm_int8 = "bitsandbytes Int8Params: one fp32 absmax an output (arXiv:2208.07339)";
constexpr std::string_view modelopt = "NVIDIA ModelOpt NVFP4: E4M3 scale per 16 elements";
constexpr std::string_view mx = "OCP microscaling formats (MX) specification 1.0: E8M0 scale per 32";
constexpr std::string_view llama = "llama.cpp src/llama-quant.cpp";

constexpr QuantFacts file_type(Quant quant, std::string_view name) {
  return {.quant = quant, .name = name, .covers = Coverage::file, .source = llama};
}

// In the order of the enumeration, so that facts() is an index. Nested statistics of bitsandbytes: 8 bits for 64
// elements and 32 for 256 of those, 8.125 bits a group; written for groups of 512.
constexpr std::array quants{
    QuantFacts{.quant = Quant::bf16, .name = "bf16", .source = plain},
    QuantFacts{.quant = Quant::f16, .name = "f16", .source = plain},
    QuantFacts{.quant = Quant::f32, .name = "f32", .bits = 32, .source = plain},
    QuantFacts{.quant = Quant::fp8,
               .name = "fp8",
               .covers = Coverage::layers,
               .bits = 8,
               .channel_scale = true,
               .source = compressed},
    QuantFacts{.quant = Quant::fp8_block,
               .name = "fp8-block",
               .covers = Coverage::layers,
               .bits = 8,
               .tile = 128,
               .source = deepseek},
    QuantFacts{.quant = Quant::int8,
               .name = "int8",
               .covers = Coverage::layers,
               .bits = 8,
               .channel_scale = true,
               .source = compressed},
    QuantFacts{.quant = Quant::int4,
               .name = "int4",
               .covers = Coverage::layers,
               .bits = 4,
               .group = 128,
               .group_bits = 16,
               .source = w4a16},
    QuantFacts{.quant = Quant::awq,
               .name = "awq",
               .covers = Coverage::layers,
               .bits = 4,
               .group = 128,
               .group_bits = 20,
               .source = awq},
    QuantFacts{.quant = Quant::gptq,
               .name = "gptq",
               .covers = Coverage::layers,
               .bits = 4,
               .group = 128,
               .group_bits = 20,
               .source = autogptq},
    QuantFacts{.quant = Quant::gptq_8bit,
               .name = "gptq-8bit",
               .covers = Coverage::layers,
               .bits = 8,
               .group = 128,
               .group_bits = 24,
               .source = autogptq},
    QuantFacts{.quant = Quant::bnb_nf4,
               .name = "bnb-nf4",
               .covers = Coverage::layers,
               .bits = 4,
               .group = 512,
               .group_bits = 65,
               .source = bitsandbytes},
    QuantFacts{.quant = Quant::bnb_int8,
               .name = "bnb-int8",
               .covers = Coverage::layers,
               .bits = 8,
               .channel_scale = true,
               .source = llm_int8},
    QuantFacts{.quant = Quant::nvfp4,
               .name = "nvfp4",
               .covers = Coverage::layers,
               .bits = 4,
               .group = 16,
               .group_bits = 8,
               .source = modelopt},
    QuantFacts{.quant = Quant::mxfp4,
               .name = "mxfp4",
               .covers = Coverage::experts,
               .bits = 4,
               .group = 32,
               .group_bits = 8,
               .source = mx},
    file_type(Quant::q4_0, "q4_0"),
    file_type(Quant::q4_1, "q4_1"),
    file_type(Quant::q5_0, "q5_0"),
    file_type(Quant::q5_1, "q5_1"),
    file_type(Quant::q8_0, "q8_0"),
    file_type(Quant::q2_k, "q2_k"),
    file_type(Quant::q2_k_s, "q2_k_s"),
    file_type(Quant::q3_k_s, "q3_k_s"),
    file_type(Quant::q3_k_m, "q3_k_m"),
    file_type(Quant::q3_k_l, "q3_k_l"),
    file_type(Quant::q4_k_s, "q4_k_s"),
    file_type(Quant::q4_k_m, "q4_k_m"),
    file_type(Quant::q5_k_s, "q5_k_s"),
    file_type(Quant::q5_k_m, "q5_k_m"),
    file_type(Quant::q6_k, "q6_k"),
    file_type(Quant::iq1_s, "iq1_s"),
    file_type(Quant::iq1_m, "iq1_m"),
    file_type(Quant::iq2_xxs, "iq2_xxs"),
    file_type(Quant::iq2_xs, "iq2_xs"),
    file_type(Quant::iq2_s, "iq2_s"),
    file_type(Quant::iq2_m, "iq2_m"),
    file_type(Quant::iq3_xxs, "iq3_xxs"),
    file_type(Quant::iq3_xs, "iq3_xs"),
    file_type(Quant::iq3_s, "iq3_s"),
    file_type(Quant::iq3_m, "iq3_m"),
    file_type(Quant::iq4_nl, "iq4_nl"),
    file_type(Quant::iq4_xs, "iq4_xs"),
    file_type(Quant::tq1_0, "tq1_0"),
    file_type(Quant::tq2_0, "tq2_0"),
    file_type(Quant::mxfp4_moe, "mxfp4_moe"),
};

static_assert(in_enumeration_order(quants, &QuantFacts::quant));

struct BaseType {
  Quant quant;
  GgmlType type;
};

/// llama.cpp src/llama-quant.cpp, llama_model_quantize_impl: the default type of each llama_ftype.
constexpr BaseType base_types[] = {
    {Quant::q4_0, GgmlType::q4_0},       {Quant::q4_1, GgmlType::q4_1},       {Quant::q5_0, GgmlType::q5_0},
    {Quant::q5_1, GgmlType::q5_1},       {Quant::q8_0, GgmlType::q8_0},       {Quant::mxfp4_moe, GgmlType::q8_0},
    {Quant::q2_k, GgmlType::q2_k},       {Quant::q2_k_s, GgmlType::q2_k},     {Quant::q3_k_s, GgmlType::q3_k},
    {Quant::q3_k_m, GgmlType::q3_k},     {Quant::q3_k_l, GgmlType::q3_k},     {Quant::q4_k_s, GgmlType::q4_k},
    {Quant::q4_k_m, GgmlType::q4_k},     {Quant::q5_k_s, GgmlType::q5_k},     {Quant::q5_k_m, GgmlType::q5_k},
    {Quant::q6_k, GgmlType::q6_k},       {Quant::iq1_s, GgmlType::iq1_s},     {Quant::iq1_m, GgmlType::iq1_m},
    {Quant::iq2_xxs, GgmlType::iq2_xxs}, {Quant::iq2_xs, GgmlType::iq2_xs},   {Quant::iq2_s, GgmlType::iq2_xs},
    {Quant::iq2_m, GgmlType::iq2_s},     {Quant::iq3_xxs, GgmlType::iq3_xxs}, {Quant::iq3_xs, GgmlType::iq3_s},
    {Quant::iq3_s, GgmlType::iq3_s},     {Quant::iq3_m, GgmlType::iq3_s},     {Quant::iq4_nl, GgmlType::iq4_nl},
    {Quant::iq4_xs, GgmlType::iq4_xs},   {Quant::tq1_0, GgmlType::tq1_0},     {Quant::tq2_0, GgmlType::tq2_0}};

std::int64_t scale_bytes(const QuantFacts& f, std::int64_t rows, std::int64_t columns, std::int64_t group) {
  if (f.channel_scale) return 4 * columns;
  if (f.tile > 0) {
    return 4 * quantity::checked_multiply(quantity::ceil_divide(rows, f.tile), quantity::ceil_divide(columns, f.tile));
  }
  if (group == 0) return 0;
  return quantity::ceil_divide(quantity::product(quantity::ceil_divide(rows, group), columns, f.group_bits), 8);
}

}  // namespace

const QuantFacts& facts(Quant quant) { return quants.at(static_cast<std::size_t>(quant)); }

std::span<const QuantFacts> all_quants() { return quants; }

bool is_file_type(Quant quant) { return facts(quant).covers == Coverage::file; }

std::optional<GgmlType> base_type(Quant quant) {
  const auto* found = std::ranges::find(base_types, quant, &BaseType::quant);
  return found == std::end(base_types) ? std::nullopt : std::optional(found->type);
}

quantity::Bytes storage_bytes(const QuantFacts& f, std::int64_t rows, std::int64_t columns, std::int64_t group) {
  const std::int64_t codes = quantity::ceil_divide(quantity::product(rows, columns, f.bits), 8);
  return quantity::bytes(quantity::checked_add(codes, scale_bytes(f, rows, columns, group > 0 ? group : f.group)));
}

namespace {

constexpr std::string_view ieee_754 = "IEEE 754-2019, table 3.5";
constexpr std::string_view ampere = "NVIDIA A100 architecture whitepaper (2020): a compute mode, at rest an fp32";
constexpr std::string_view bfloat = "Wang and Kanwar 2019, BFloat16: the secret to high performance on Cloud TPUs";
constexpr std::string_view ofp8 = "OCP 8-bit floating point specification (OFP8) 1.0, tables 1 and 2";
constexpr std::string_view integer = "two's complement; one scale per tensor or row, not counted";
constexpr std::string_view qlora = "Dettmers et al. 2023 (QLoRA), arXiv:2305.14314, section 3: fp32 absmax per 64";
constexpr std::string_view qlora_double =
    "Dettmers et al. 2023 (QLoRA), arXiv:2305.14314, section 3: 8-bit absmax per 64, one fp32 per 256 of those";
constexpr std::string_view bitsandbytes_blocks = "bitsandbytes functional.py quantize_4bit: fp32 absmax per 64";
constexpr std::string_view bitsandbytes_double =
    "bitsandbytes functional.py quantize_4bit, compress_statistics: 8-bit absmax per 64, one fp32 per 256 of those";
constexpr std::string_view gptq =
    "AutoGPTQ qlinear layout, group size 128: fp16 scale and packed zero point of the weights' width per group";
constexpr std::string_view mx_blocks = "OCP microscaling formats (MX) specification 1.0, table 1: E8M0 scale per 32";
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
    DtypeFacts{Dtype::fp4, "fp4", 4, 2, 1, absmax_per_64, bitsandbytes_blocks},
    DtypeFacts{Dtype::fp4_dq, "fp4-dq", 4, 2, 1, quantized_absmax_per_64, bitsandbytes_double},
    DtypeFacts{Dtype::int4_gptq, "int4-gptq", 4, 0, 3, gptq_group(4), gptq},
    DtypeFacts{Dtype::int8_gptq, "int8-gptq", 8, 0, 7, gptq_group(8), gptq},
    DtypeFacts{Dtype::mxfp8, "mxfp8", 8, 4, 3, e8m0_per_32, mx_blocks},
    DtypeFacts{Dtype::mxfp4, "mxfp4", 4, 2, 1, e8m0_per_32, mx_blocks},
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
