// The words for how a model is trained; see names.cpp for the rule of the order.
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/training.hpp"

namespace llmcalc::spec {

template <>
std::span<const Named<Method>> vocabulary<Method>() {
  using enum Method;
  static constexpr Named<Method> words[] = {
      {full, "full"},       {lora, "lora"},     {qlora, "qlora"},         {dora, "dora"},
      {adalora, "adalora"}, {ia3, "ia3"},       {prompt, "prompt"},       {prefix, "prefix"},
      {adapter, "adapter"}, {galore, "galore"}, {inference, "inference"}, {forward_only, "forward-only"},
  };
  return words;
}

template <>
std::span<const Named<Algorithm>> vocabulary<Algorithm>() {
  using enum Algorithm;
  static constexpr Named<Algorithm> words[] = {{sft, "sft"}, {dpo, "dpo"}, {orpo, "orpo"},
                                               {kto, "kto"}, {ppo, "ppo"}, {grpo, "grpo"}};
  return words;
}

template <>
std::span<const Named<Reference>> vocabulary<Reference>() {
  using enum Reference;
  static constexpr Named<Reference> words[] = {
      {none, "none"}, {model, "model"}, {base, "base"}, {precomputed, "precomputed"}};
  return words;
}

template <>
std::span<const Named<Optimizer>> vocabulary<Optimizer>() {
  using enum Optimizer;
  static constexpr Named<Optimizer> words[] = {
      {adamw, "adamw"},
      {adamw, "adam"},
      {adamw, "adamw_torch"},
      {adamw, "adamw_torch_fused"},
      {adamw_8bit, "adamw-8bit"},
      {adamw_8bit, "adamw8bit"},
      {adamw_8bit, "adamw_8bit"},
      {adamw_8bit, "adamw_bnb_8bit"},
      {adamw_4bit, "adamw-4bit"},
      {adamw_4bit, "adamw4bit"},
      {paged_adamw, "paged-adamw"},
      {paged_adamw, "paged_adamw"},
      {paged_adamw, "paged_adamw_32bit"},
      {paged_adamw_8bit, "paged-adamw-8bit"},
      {paged_adamw_8bit, "paged_adamw_8bit"},
      {sgd, "sgd"},
      {sgd_momentum, "sgd-momentum"},
      {muon, "muon"},
      {adafactor, "adafactor"},
      {lion, "lion"},
      {galore_adamw_8bit, "galore-adamw-8bit"},
      {galore_adamw_8bit, "galore_adamw_8bit"},
      {adagrad, "adagrad"},
      {lamb, "lamb"},
      {shampoo, "shampoo"},
      {soap, "soap"},
      {apollo, "apollo"},
      {apollo_mini, "apollo-mini"},
      {apollo_mini, "apollo_mini"},
      {lomo, "lomo"},
      {adalomo, "adalomo"},
      {none, "none"},
  };
  return words;
}

template <>
std::span<const Named<OptimizerImpl>> vocabulary<OptimizerImpl>() {
  using enum OptimizerImpl;
  static constexpr Named<OptimizerImpl> words[] = {
      {foreach, "foreach"}, {fused, "fused"}, {loop, "loop"}, {loop, "for-loop"}};
  return words;
}

template <>
std::span<const Named<RecomputePolicy>> vocabulary<RecomputePolicy>() {
  using enum RecomputePolicy;
  static constexpr Named<RecomputePolicy> words[] = {{none, "none"}, {selective, "selective"}, {full, "full"}};
  return words;
}

template <>
std::span<const Named<RecomputeLayers>> vocabulary<RecomputeLayers>() {
  using enum RecomputeLayers;
  static constexpr Named<RecomputeLayers> words[] = {
      {all, "all"}, {every, "every"}, {uniform, "uniform"}, {block, "block"}};
  return words;
}

template <>
std::span<const Named<RecomputeModule>> vocabulary<RecomputeModule>() {
  using enum RecomputeModule;
  static constexpr Named<RecomputeModule> words[] = {
      {core_attn, "core_attn"},           {mlp, "mlp"},         {moe, "moe"},
      {shared_experts, "shared_experts"}, {moe_act, "moe_act"}, {layernorm, "layernorm"},
      {mla_up_proj, "mla_up_proj"}};
  return words;
}

template <>
std::span<const Named<AttentionKernel>> vocabulary<AttentionKernel>() {
  using enum AttentionKernel;
  static constexpr Named<AttentionKernel> words[] = {
      {flash, "flash"}, {flash, "flash-attention"}, {flash, "flash_attention_2"}, {sdpa, "sdpa"}, {eager, "eager"}};
  return words;
}

template <>
std::span<const Named<TransformerImpl>> vocabulary<TransformerImpl>() {
  using enum TransformerImpl;
  static constexpr Named<TransformerImpl> words[] = {
      {transformer_engine, "transformer-engine"}, {transformer_engine, "transformer_engine"}, {local, "local"}};
  return words;
}

template <>
std::span<const Named<Fp8Scaling>> vocabulary<Fp8Scaling>() {
  using enum Fp8Scaling;
  static constexpr Named<Fp8Scaling> words[] = {
      {tensor, "tensor"}, {tensor, "tensorwise"}, {row, "row"}, {row, "rowwise"}};
  return words;
}

template <>
std::span<const Named<Loss>> vocabulary<Loss>() {
  using enum Loss;
  static constexpr Named<Loss> words[] = {
      {standard, "standard"},         {fused, "fused"},
      {fused_linear, "fused-linear"}, {cut, "cut"},
      {cut, "cut-cross-entropy"},     {chunked, "chunked"},
      {compiled, "compiled"},         {vocab_parallel, "vocab-parallel"},
      {te_fused, "te-fused"},         {vocab_parallel_fused, "vocab-parallel-fused"},
  };
  return words;
}

template <>
std::span<const Named<Offload>> vocabulary<Offload>() {
  using enum Offload;
  static constexpr Named<Offload> words[] = {{none, "none"},
                                             {optimizer, "optimizer"},
                                             {optimizer_gradients, "optimizer+gradients"},
                                             {optimizer_gradients, "gradients+optimizer"},
                                             {params, "params"},
                                             {params_optimizer, "params+optimizer"},
                                             {params_optimizer, "optimizer+params"},
                                             {activations, "activations"}};
  return words;
}

template <>
std::span<const Named<CudaGraph>> vocabulary<CudaGraph>() {
  using enum CudaGraph;
  static constexpr Named<CudaGraph> words[] = {
      {none, "none"}, {scoped, "scoped"}, {full, "full"}, {full, "full-iteration"}, {full, "full_iteration"}};
  return words;
}

template <>
std::span<const Named<OffloadTarget>> vocabulary<OffloadTarget>() {
  using enum OffloadTarget;
  static constexpr Named<OffloadTarget> words[] = {{host, "host"}, {host, "cpu"}, {nvme, "nvme"}};
  return words;
}

template <>
std::span<const Named<SaveCheckpoint>> vocabulary<SaveCheckpoint>() {
  using enum SaveCheckpoint;
  static constexpr Named<SaveCheckpoint> words[] = {
      {none, "none"},         {framework, "framework"}, {full, "full"},  {full_cpu, "full-cpu"},
      {full_cpu, "full_cpu"}, {sharded, "sharded"},     {async, "async"}};
  return words;
}

template <>
std::span<const Named<ActivationModel>> vocabulary<ActivationModel>() {
  using enum ActivationModel;
  static constexpr Named<ActivationModel> words[] = {
      {program, "program"}, {none, "none"}, {rule_of_thumb, "rule-of-thumb"}};
  return words;
}

}  // namespace llmcalc::spec
