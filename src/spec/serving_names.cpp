// The words of serving; see names.cpp for the rule of the order.
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/lists.hpp"
#include "llmcalc/spec/measurement.hpp"
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/serving.hpp"

namespace llmcalc::spec {

template <>
std::span<const Named<Engine>> vocabulary<Engine>() {
  using enum Engine;
  static constexpr Named<Engine> words[] = {{vllm, "vllm"},           {sglang, "sglang"},
                                            {trtllm, "trtllm"},       {trtllm, "tensorrt-llm"},
                                            {trtllm, "tensorrt"},     {llama_cpp, "llama.cpp"},
                                            {llama_cpp, "llama-cpp"}, {llama_cpp, "llamacpp"},
                                            {llama_cpp, "llama_cpp"}, {llama_cpp, "ik_llama.cpp"},
                                            {llama_cpp, "lmstudio"},  {llama_cpp, "lm-studio"},
                                            {ollama, "ollama"},       {hf, "hf"},
                                            {hf, "transformers"}};
  return words;
}

template <>
std::span<const Named<CacheType>> vocabulary<CacheType>() {
  using enum CacheType;
  static constexpr Named<CacheType> words[] = {
      {automatic, "auto"}, {bf16, "bf16"}, {bf16, "bfloat16"}, {f16, "fp16"},     {f16, "f16"},
      {f16, "float16"},    {f32, "fp32"},  {f32, "f32"},       {fp8, "fp8"},      {fp8, "fp8_e4m3"},
      {fp8, "fp8_e5m2"},   {int8, "int8"}, {nvfp4, "nvfp4"},   {q8_0, "q8_0"},    {q5_1, "q5_1"},
      {q5_0, "q5_0"},      {q4_1, "q4_1"}, {q4_0, "q4_0"},     {iq4_nl, "iq4_nl"}};
  return words;
}

template <>
std::span<const Named<CardSplit>> vocabulary<CardSplit>() {
  using enum CardSplit;
  static constexpr Named<CardSplit> words[] = {{layer, "layer"}, {row, "row"}, {tensor, "tensor"}};
  return words;
}

namespace {

/// Spellings that people bring from elsewhere; the canonical ones stand with the formats' facts.
constexpr Named<formats::Quant> other_words[] = {{formats::Quant::bf16, "none"},
                                                 {formats::Quant::f16, "fp16"},
                                                 {formats::Quant::f32, "fp32"},
                                                 {formats::Quant::fp8, "fp8-dynamic"},
                                                 {formats::Quant::fp8, "fp8_dynamic"},
                                                 {formats::Quant::fp8_block, "fp8_block"},
                                                 {formats::Quant::int8, "w8a8"},
                                                 {formats::Quant::int4, "w4a16"},
                                                 {formats::Quant::gptq, "gptq-4bit"},
                                                 {formats::Quant::gptq, "gptq_4bit"},
                                                 {formats::Quant::gptq_8bit, "gptq_8bit"},
                                                 {formats::Quant::bnb_nf4, "nf4"},
                                                 {formats::Quant::bnb_nf4, "bnb-4bit"},
                                                 {formats::Quant::bnb_nf4, "bnb_nf4"},
                                                 {formats::Quant::bnb_int8, "bnb-8bit"},
                                                 {formats::Quant::bnb_int8, "bnb_int8"},
                                                 {formats::Quant::nvfp4, "fp4"},
                                                 {formats::Quant::mxfp4_moe, "mxfp4-moe"},
                                                 {formats::Quant::q2_k, "q2-k"},
                                                 {formats::Quant::q3_k_m, "q3_k"},
                                                 {formats::Quant::q4_k_m, "q4_k"},
                                                 {formats::Quant::q5_k_m, "q5_k"}};

std::vector<Named<formats::Quant>> all_words() {
  const auto word = [](const formats::QuantFacts& facts) { return Named<formats::Quant>{facts.quant, facts.name}; };
  auto words = quantity::mapped(formats::all_quants(), word);
  quantity::append(words, other_words);
  return words;
}

}  // namespace

template <>
std::span<const Named<formats::Quant>> vocabulary<formats::Quant>() {
  static const std::vector<Named<formats::Quant>> words = all_words();
  return words;
}

}  // namespace llmcalc::spec
