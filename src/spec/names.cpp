// Canonical words first: those of the measured-run schema, which the command line shares. Behind each stand the
// spellings of the frameworks and of habit. A word that could mean two values ("fsdp") is left out on purpose, so
// that it is asked back instead of guessed.
#include "llmcalc/spec/names.hpp"

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/measurement.hpp"
#include "llmcalc/spec/shape.hpp"

namespace llmcalc::spec {

template <>
std::span<const Named<formats::Dtype>> vocabulary<formats::Dtype>() {
  using enum formats::Dtype;
  static constexpr Named<formats::Dtype> words[] = {
      {fp64, "fp64"},
      {fp64, "float64"},
      {fp64, "double"},
      {fp32, "fp32"},
      {fp32, "float32"},
      {fp32, "float"},
      {tf32, "tf32"},
      {tf32, "tensorfloat32"},
      {fp16, "fp16"},
      {fp16, "float16"},
      {fp16, "half"},
      {bf16, "bf16"},
      {bf16, "bfloat16"},
      {fp8_e4m3, "fp8-e4m3"},
      {fp8_e4m3, "fp8"},
      {fp8_e4m3, "e4m3"},
      {fp8_e4m3, "float8_e4m3fn"},
      {fp8_e4m3, "fp8_e4m3"},
      {fp8_e5m2, "fp8-e5m2"},
      {fp8_e5m2, "e5m2"},
      {fp8_e5m2, "float8_e5m2"},
      {fp8_e5m2, "fp8_e5m2"},
      {int8, "int8"},
      {int8, "i8"},
      {int4, "int4"},
      {int4, "i4"},
      {nf4, "nf4"},
      {nf4_dq, "nf4-dq"},
      {nf4_dq, "nf4_dq"},
      {fp4, "fp4"},
      {fp4_dq, "fp4-dq"},
      {fp4_dq, "fp4_dq"},
      {int4_gptq, "int4-gptq"},
      {int4_gptq, "gptq"},
      {int4_gptq, "int4-awq"},
      {int4_gptq, "awq"},
      {int8_gptq, "int8-gptq"},
      {mxfp8, "mxfp8"},
      {mxfp4, "mxfp4"},
      {nvfp4, "nvfp4"},
  };
  return words;
}

template <>
std::span<const Named<Stack>> vocabulary<Stack>() {
  using enum Stack;
  static constexpr Named<Stack> words[] = {
      {decoder, "decoder"}, {encoder, "encoder"}, {encoder_decoder, "encoder-decoder"}};
  return words;
}

template <>
std::span<const Named<Mlp>> vocabulary<Mlp>() {
  using enum Mlp;
  static constexpr Named<Mlp> words[] = {{gelu, "gelu"},          {relu, "relu"},     {squared_relu, "squared-relu"},
                                         {squared_relu, "relu2"}, {swiglu, "swiglu"}, {geglu, "geglu"},
                                         {reglu, "reglu"}};
  return words;
}

template <>
std::span<const Named<Norm>> vocabulary<Norm>() {
  using enum Norm;
  static constexpr Named<Norm> words[] = {{layernorm, "layernorm"},
                                          {layernorm_no_bias, "layernorm-no-bias"},
                                          {layernorm_no_bias, "layernorm_nobias"},
                                          {rmsnorm, "rmsnorm"},
                                          {nonparametric, "nonparametric"}};
  return words;
}

template <>
std::span<const Named<Position>> vocabulary<Position>() {
  using enum Position;
  static constexpr Named<Position> words[] = {{learned, "learned"}, {learned, "absolute"},  {rope, "rope"},
                                              {alibi, "alibi"},     {relative, "relative"}, {relative, "relative_bias"},
                                              {none, "none"},       {none, "nope"}};
  return words;
}

template <>
std::span<const Named<QkNorm>> vocabulary<QkNorm>() {
  using enum QkNorm;
  static constexpr Named<QkNorm> words[] = {
      {none, "none"}, {per_head, "per-head"}, {per_head, "head"}, {full_width, "full-width"}, {full_width, "full"}};
  return words;
}

template <>
std::span<const Named<Measure>> vocabulary<Measure>() {
  using enum Measure;
  static constexpr Named<Measure> words[] = {{peak_allocated, "peak_allocated"},
                                             {peak_reserved, "peak_reserved"},
                                             {nvidia_smi, "nvidia_smi"},
                                             {persistent, "persistent"},
                                             {fits, "fits"},
                                             {oom, "oom"},
                                             {step_time, "step_time"},
                                             {tokens_per_gpu, "tokens_per_gpu"},
                                             {weights, "weights"},
                                             {host_weights, "host_weights"},
                                             {activation_peak, "activation_peak"},
                                             {torch_peak, "torch_peak"},
                                             {non_torch, "non_torch"},
                                             {cuda_graphs, "cuda_graphs"},
                                             {kv_cache, "kv_cache"},
                                             {kv_bytes_per_token, "kv_bytes_per_token"},
                                             {recurrent_state, "recurrent_state"},
                                             {compute_buffer, "compute_buffer"},
                                             {device_total, "device_total"},
                                             {file_size, "file_size"},
                                             {kv_tokens, "kv_tokens"},
                                             {max_context, "max_context"},
                                             {max_concurrency, "max_concurrency"},
                                             {bits_per_weight, "bits_per_weight"},
                                             {ttft, "ttft"},
                                             {tpot, "tpot"},
                                             {decode_tok_s, "decode_tok_s"},
                                             {prefill_tok_s, "prefill_tok_s"},
                                             {throughput_tok_s, "throughput_tok_s"}};
  return words;
}

template <>
std::span<const Named<Step>> vocabulary<Step>() {
  using enum Step;
  static constexpr Named<Step> words[] = {{steady, "steady"}, {first, "first"}};
  return words;
}

}  // namespace llmcalc::spec
