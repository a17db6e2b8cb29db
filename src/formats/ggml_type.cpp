#include "llmcalc/formats/ggml_type.hpp"

#include "formats/inner/table_order.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <array>

namespace llmcalc::formats {

namespace {

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

}  // namespace llmcalc::formats
