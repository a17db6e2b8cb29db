#include "llmcalc/formats/quant.hpp"

#include "formats/inner/table_order.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::formats {

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

}  // namespace llmcalc::formats
