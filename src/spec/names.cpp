// Canonical words first: those of the measured-run schema, which the command line shares. Behind each stand the
// spellings of the frameworks and of habit. A word that could mean two values ("fsdp") is left out on purpose, so
// that it is asked back instead of guessed.
#include "spec/names.hpp"

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/shape.hpp"
#include "spec/measurement.hpp"

namespace llmcalc::spec {

constexpr Named<formats::Dtype> dtype_words[] = {
    {formats::Dtype::fp64, "fp64"},
    {formats::Dtype::fp64, "float64"},
    {formats::Dtype::fp64, "double"},
    {formats::Dtype::fp32, "fp32"},
    {formats::Dtype::fp32, "float32"},
    {formats::Dtype::fp32, "float"},
    {formats::Dtype::tf32, "tf32"},
    {formats::Dtype::tf32, "tensorfloat32"},
    {formats::Dtype::fp16, "fp16"},
    {formats::Dtype::fp16, "float16"},
    {formats::Dtype::fp16, "half"},
    {formats::Dtype::bf16, "bf16"},
    {formats::Dtype::bf16, "bfloat16"},
    {formats::Dtype::fp8_e4m3, "fp8-e4m3"},
    {formats::Dtype::fp8_e4m3, "fp8"},
    {formats::Dtype::fp8_e4m3, "e4m3"},
    {formats::Dtype::fp8_e4m3, "float8_e4m3fn"},
    {formats::Dtype::fp8_e4m3, "fp8_e4m3"},
    {formats::Dtype::fp8_e5m2, "fp8-e5m2"},
    {formats::Dtype::fp8_e5m2, "e5m2"},
    {formats::Dtype::fp8_e5m2, "float8_e5m2"},
    {formats::Dtype::fp8_e5m2, "fp8_e5m2"},
    {formats::Dtype::int8, "int8"},
    {formats::Dtype::int8, "i8"},
    {formats::Dtype::int4, "int4"},
    {formats::Dtype::int4, "i4"},
    {formats::Dtype::nf4, "nf4"},
    {formats::Dtype::nf4_dq, "nf4-dq"},
    {formats::Dtype::nf4_dq, "nf4_dq"},
    {formats::Dtype::fp4, "fp4"},
    {formats::Dtype::fp4_dq, "fp4-dq"},
    {formats::Dtype::fp4_dq, "fp4_dq"},
    {formats::Dtype::int4_gptq, "int4-gptq"},
    {formats::Dtype::int4_gptq, "gptq"},
    {formats::Dtype::int4_gptq, "int4-awq"},
    {formats::Dtype::int4_gptq, "awq"},
    {formats::Dtype::int8_gptq, "int8-gptq"},
    {formats::Dtype::mxfp8, "mxfp8"},
    {formats::Dtype::mxfp4, "mxfp4"},
    {formats::Dtype::nvfp4, "nvfp4"},
};

template <>
std::span<const Named<formats::Dtype>> vocabulary<formats::Dtype>() {
  return dtype_words;
}

constexpr Named<Stack> stack_words[] = {
    {Stack::decoder, "decoder"}, {Stack::encoder, "encoder"}, {Stack::encoder_decoder, "encoder-decoder"}};

template <>
std::span<const Named<Stack>> vocabulary<Stack>() {
  return stack_words;
}

constexpr Named<Mlp> mlp_words[] = {
    {Mlp::gelu, "gelu"},          {Mlp::relu, "relu"},     {Mlp::squared_relu, "squared-relu"},
    {Mlp::squared_relu, "relu2"}, {Mlp::swiglu, "swiglu"}, {Mlp::geglu, "geglu"},
    {Mlp::reglu, "reglu"}};

template <>
std::span<const Named<Mlp>> vocabulary<Mlp>() {
  return mlp_words;
}

constexpr Named<Norm> norm_words[] = {{Norm::layernorm, "layernorm"},
                                      {Norm::layernorm_no_bias, "layernorm-no-bias"},
                                      {Norm::layernorm_no_bias, "layernorm_nobias"},
                                      {Norm::rmsnorm, "rmsnorm"},
                                      {Norm::nonparametric, "nonparametric"}};

template <>
std::span<const Named<Norm>> vocabulary<Norm>() {
  return norm_words;
}

constexpr Named<Position> position_words[] = {{Position::learned, "learned"},   {Position::learned, "absolute"},
                                              {Position::rope, "rope"},         {Position::alibi, "alibi"},
                                              {Position::relative, "relative"}, {Position::relative, "relative_bias"},
                                              {Position::none, "none"},         {Position::none, "nope"}};

template <>
std::span<const Named<Position>> vocabulary<Position>() {
  return position_words;
}

constexpr Named<QkNorm> qk_norm_words[] = {{QkNorm::none, "none"},
                                           {QkNorm::per_head, "per-head"},
                                           {QkNorm::per_head, "head"},
                                           {QkNorm::full_width, "full-width"},
                                           {QkNorm::full_width, "full"}};

template <>
std::span<const Named<QkNorm>> vocabulary<QkNorm>() {
  return qk_norm_words;
}

constexpr Named<Measure> measure_words[] = {{Measure::peak_allocated, "peak_allocated"},
                                            {Measure::peak_reserved, "peak_reserved"},
                                            {Measure::nvidia_smi, "nvidia_smi"},
                                            {Measure::persistent, "persistent"},
                                            {Measure::fits, "fits"},
                                            {Measure::oom, "oom"},
                                            {Measure::step_time, "step_time"},
                                            {Measure::tokens_per_gpu, "tokens_per_gpu"},
                                            {Measure::weights, "weights"},
                                            {Measure::host_weights, "host_weights"},
                                            {Measure::activation_peak, "activation_peak"},
                                            {Measure::torch_peak, "torch_peak"},
                                            {Measure::non_torch, "non_torch"},
                                            {Measure::cuda_graphs, "cuda_graphs"},
                                            {Measure::kv_cache, "kv_cache"},
                                            {Measure::kv_bytes_per_token, "kv_bytes_per_token"},
                                            {Measure::recurrent_state, "recurrent_state"},
                                            {Measure::compute_buffer, "compute_buffer"},
                                            {Measure::device_total, "device_total"},
                                            {Measure::file_size, "file_size"},
                                            {Measure::kv_tokens, "kv_tokens"},
                                            {Measure::max_context, "max_context"},
                                            {Measure::max_concurrency, "max_concurrency"},
                                            {Measure::bits_per_weight, "bits_per_weight"},
                                            {Measure::ttft, "ttft"},
                                            {Measure::tpot, "tpot"},
                                            {Measure::decode_tok_s, "decode_tok_s"},
                                            {Measure::prefill_tok_s, "prefill_tok_s"},
                                            {Measure::throughput_tok_s, "throughput_tok_s"}};

template <>
std::span<const Named<Measure>> vocabulary<Measure>() {
  return measure_words;
}

constexpr Named<Step> step_words[] = {{Step::steady, "steady"}, {Step::first, "first"}};

template <>
std::span<const Named<Step>> vocabulary<Step>() {
  return step_words;
}

}  // namespace llmcalc::spec
