// The words of serving; see names.cpp for the rule of the order.
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/serving.hpp"
#include "quantity/lists.hpp"
#include "spec/measurement.hpp"
#include "spec/names.hpp"

namespace llmcalc::spec {

constexpr Named<Engine> engine_words[] = {{Engine::vllm, "vllm"},           {Engine::sglang, "sglang"},
                                          {Engine::trtllm, "trtllm"},       {Engine::trtllm, "tensorrt-llm"},
                                          {Engine::trtllm, "tensorrt"},     {Engine::llama_cpp, "llama.cpp"},
                                          {Engine::llama_cpp, "llama-cpp"}, {Engine::llama_cpp, "llamacpp"},
                                          {Engine::llama_cpp, "llama_cpp"}, {Engine::llama_cpp, "ik_llama.cpp"},
                                          {Engine::llama_cpp, "lmstudio"},  {Engine::llama_cpp, "lm-studio"},
                                          {Engine::ollama, "ollama"},       {Engine::hf, "hf"},
                                          {Engine::hf, "transformers"}};

template <>
std::span<const Named<Engine>> vocabulary<Engine>() {
  return engine_words;
}

constexpr Named<CacheType> cache_type_words[] = {
    {CacheType::automatic, "auto"}, {CacheType::bf16, "bf16"},    {CacheType::bf16, "bfloat16"},
    {CacheType::f16, "fp16"},       {CacheType::f16, "f16"},      {CacheType::f16, "float16"},
    {CacheType::f32, "fp32"},       {CacheType::f32, "f32"},      {CacheType::fp8, "fp8"},
    {CacheType::fp8, "fp8_e4m3"},   {CacheType::fp8, "fp8_e5m2"}, {CacheType::int8, "int8"},
    {CacheType::nvfp4, "nvfp4"},    {CacheType::q8_0, "q8_0"},    {CacheType::q5_1, "q5_1"},
    {CacheType::q5_0, "q5_0"},      {CacheType::q4_1, "q4_1"},    {CacheType::q4_0, "q4_0"},
    {CacheType::iq4_nl, "iq4_nl"}};

template <>
std::span<const Named<CacheType>> vocabulary<CacheType>() {
  return cache_type_words;
}

constexpr Named<CardSplit> card_split_words[] = {
    {CardSplit::layer, "layer"}, {CardSplit::row, "row"}, {CardSplit::tensor, "tensor"}};

template <>
std::span<const Named<CardSplit>> vocabulary<CardSplit>() {
  return card_split_words;
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
