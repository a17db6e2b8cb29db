#include "read/checkpoint/gguf.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// Numbers of llama.cpp ggml/include/ggml.h, block sizes of ggml/src/ggml-common.h.
constexpr GgufType gguf_types[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
};

struct FileType {
  std::uint64_t id;
  std::string_view quant;
};

/// llama.cpp include/llama.h, llama_ftype.
constexpr FileType file_types[] = {
    {0, "f32"},     {1, "f16"},     {2, "q4_0"},     {3, "q4_1"},    {7, "q8_0"},       {8, "q5_0"},    {9, "q5_1"},
    {10, "q2_k"},   {11, "q3_k_s"}, {12, "q3_k_m"},  {13, "q3_k_l"}, {14, "q4_k_s"},    {15, "q4_k_m"}, {16, "q5_k_s"},
    {17, "q5_k_m"}, {18, "q6_k"},   {19, "iq2_xxs"}, {20, "iq2_xs"}, {21, "q2_k_s"},    {22, "iq3_xs"}, {23, "iq3_xxs"},
    {24, "iq1_s"},  {25, "iq4_nl"}, {26, "iq3_s"},   {27, "iq3_m"},  {28, "iq2_s"},     {29, "iq2_m"},  {30, "iq4_xs"},
    {31, "iq1_m"},  {32, "bf16"},   {36, "tq1_0"},   {37, "tq2_0"},  {38, "mxfp4_moe"},
};

}  // namespace

const GgufType* gguf_type(std::uint32_t id) {
  const auto* found = std::ranges::find(gguf_types, id, &GgufType::id);
  return found == std::end(gguf_types) ? nullptr : found;
}

std::string_view gguf_file_type(std::uint64_t id) {
  const auto* found = std::ranges::find(file_types, id, &FileType::id);
  return found == std::end(file_types) ? std::string_view() : found->quant;
}

}  // namespace llmcalc::read
