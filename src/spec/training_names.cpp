// The words for how a model is trained; see names.cpp for the rule of the order.
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/training.hpp"
#include "spec/names.hpp"

namespace llmcalc::spec {

constexpr Named<Method> method_words[] = {
    {Method::full, "full"},     {Method::lora, "lora"},           {Method::qlora, "qlora"},
    {Method::dora, "dora"},     {Method::adalora, "adalora"},     {Method::ia3, "ia3"},
    {Method::prompt, "prompt"}, {Method::prefix, "prefix"},       {Method::adapter, "adapter"},
    {Method::galore, "galore"}, {Method::inference, "inference"}, {Method::forward_only, "forward-only"},
};

template <>
std::span<const Named<Method>> vocabulary<Method>() {
  return method_words;
}

constexpr Named<Algorithm> algorithm_words[] = {{Algorithm::sft, "sft"},   {Algorithm::dpo, "dpo"},
                                                {Algorithm::orpo, "orpo"}, {Algorithm::kto, "kto"},
                                                {Algorithm::ppo, "ppo"},   {Algorithm::grpo, "grpo"}};

template <>
std::span<const Named<Algorithm>> vocabulary<Algorithm>() {
  return algorithm_words;
}

constexpr Named<Reference> reference_words[] = {{Reference::none, "none"},
                                                {Reference::model, "model"},
                                                {Reference::base, "base"},
                                                {Reference::precomputed, "precomputed"}};

template <>
std::span<const Named<Reference>> vocabulary<Reference>() {
  return reference_words;
}

constexpr Named<Optimizer> optimizer_words[] = {
    {Optimizer::adamw, "adamw"},
    {Optimizer::adamw, "adam"},
    {Optimizer::adamw, "adamw_torch"},
    {Optimizer::adamw, "adamw_torch_fused"},
    {Optimizer::adamw_8bit, "adamw-8bit"},
    {Optimizer::adamw_8bit, "adamw8bit"},
    {Optimizer::adamw_8bit, "adamw_8bit"},
    {Optimizer::adamw_8bit, "adamw_bnb_8bit"},
    {Optimizer::adamw_4bit, "adamw-4bit"},
    {Optimizer::adamw_4bit, "adamw4bit"},
    {Optimizer::paged_adamw, "paged-adamw"},
    {Optimizer::paged_adamw, "paged_adamw"},
    {Optimizer::paged_adamw, "paged_adamw_32bit"},
    {Optimizer::paged_adamw_8bit, "paged-adamw-8bit"},
    {Optimizer::paged_adamw_8bit, "paged_adamw_8bit"},
    {Optimizer::sgd, "sgd"},
    {Optimizer::sgd_momentum, "sgd-momentum"},
    {Optimizer::muon, "muon"},
    {Optimizer::adafactor, "adafactor"},
    {Optimizer::lion, "lion"},
    {Optimizer::galore_adamw_8bit, "galore-adamw-8bit"},
    {Optimizer::galore_adamw_8bit, "galore_adamw_8bit"},
    {Optimizer::adagrad, "adagrad"},
    {Optimizer::lamb, "lamb"},
    {Optimizer::shampoo, "shampoo"},
    {Optimizer::soap, "soap"},
    {Optimizer::apollo, "apollo"},
    {Optimizer::apollo_mini, "apollo-mini"},
    {Optimizer::apollo_mini, "apollo_mini"},
    {Optimizer::lomo, "lomo"},
    {Optimizer::adalomo, "adalomo"},
    {Optimizer::none, "none"},
};

template <>
std::span<const Named<Optimizer>> vocabulary<Optimizer>() {
  return optimizer_words;
}

constexpr Named<OptimizerImpl> optimizer_impl_words[] = {{OptimizerImpl::foreach, "foreach"},
                                                         {OptimizerImpl::fused, "fused"},
                                                         {OptimizerImpl::loop, "loop"},
                                                         {OptimizerImpl::loop, "for-loop"}};

template <>
std::span<const Named<OptimizerImpl>> vocabulary<OptimizerImpl>() {
  return optimizer_impl_words;
}

constexpr Named<RecomputePolicy> recompute_policy_words[] = {
    {RecomputePolicy::none, "none"}, {RecomputePolicy::selective, "selective"}, {RecomputePolicy::full, "full"}};

template <>
std::span<const Named<RecomputePolicy>> vocabulary<RecomputePolicy>() {
  return recompute_policy_words;
}

constexpr Named<RecomputeLayers> recompute_layers_words[] = {{RecomputeLayers::all, "all"},
                                                             {RecomputeLayers::every, "every"},
                                                             {RecomputeLayers::uniform, "uniform"},
                                                             {RecomputeLayers::block, "block"}};

template <>
std::span<const Named<RecomputeLayers>> vocabulary<RecomputeLayers>() {
  return recompute_layers_words;
}

constexpr Named<RecomputeModule> recompute_module_words[] = {{RecomputeModule::core_attn, "core_attn"},
                                                             {RecomputeModule::mlp, "mlp"},
                                                             {RecomputeModule::moe, "moe"},
                                                             {RecomputeModule::shared_experts, "shared_experts"},
                                                             {RecomputeModule::moe_act, "moe_act"},
                                                             {RecomputeModule::layernorm, "layernorm"},
                                                             {RecomputeModule::mla_up_proj, "mla_up_proj"}};

template <>
std::span<const Named<RecomputeModule>> vocabulary<RecomputeModule>() {
  return recompute_module_words;
}

constexpr Named<AttentionKernel> attention_kernel_words[] = {{AttentionKernel::flash, "flash"},
                                                             {AttentionKernel::flash, "flash-attention"},
                                                             {AttentionKernel::flash, "flash_attention_2"},
                                                             {AttentionKernel::sdpa, "sdpa"},
                                                             {AttentionKernel::eager, "eager"}};

template <>
std::span<const Named<AttentionKernel>> vocabulary<AttentionKernel>() {
  return attention_kernel_words;
}

constexpr Named<TransformerImpl> transformer_impl_words[] = {
    {TransformerImpl::transformer_engine, "transformer-engine"},
    {TransformerImpl::transformer_engine, "transformer_engine"},
    {TransformerImpl::local, "local"}};

template <>
std::span<const Named<TransformerImpl>> vocabulary<TransformerImpl>() {
  return transformer_impl_words;
}

constexpr Named<Fp8Scaling> fp8_scaling_words[] = {{Fp8Scaling::tensor, "tensor"},
                                                   {Fp8Scaling::tensor, "tensorwise"},
                                                   {Fp8Scaling::row, "row"},
                                                   {Fp8Scaling::row, "rowwise"}};

template <>
std::span<const Named<Fp8Scaling>> vocabulary<Fp8Scaling>() {
  return fp8_scaling_words;
}

constexpr Named<Loss> loss_words[] = {
    {Loss::standard, "standard"},         {Loss::fused, "fused"},
    {Loss::fused_linear, "fused-linear"}, {Loss::cut, "cut"},
    {Loss::cut, "cut-cross-entropy"},     {Loss::chunked, "chunked"},
    {Loss::compiled, "compiled"},         {Loss::vocab_parallel, "vocab-parallel"},
    {Loss::te_fused, "te-fused"},         {Loss::vocab_parallel_fused, "vocab-parallel-fused"},
};

template <>
std::span<const Named<Loss>> vocabulary<Loss>() {
  return loss_words;
}

constexpr Named<Offload> offload_words[] = {{Offload::none, "none"},
                                            {Offload::optimizer, "optimizer"},
                                            {Offload::optimizer_gradients, "optimizer+gradients"},
                                            {Offload::optimizer_gradients, "gradients+optimizer"},
                                            {Offload::params, "params"},
                                            {Offload::params_optimizer, "params+optimizer"},
                                            {Offload::params_optimizer, "optimizer+params"},
                                            {Offload::activations, "activations"}};

template <>
std::span<const Named<Offload>> vocabulary<Offload>() {
  return offload_words;
}

constexpr Named<CudaGraph> cuda_graph_words[] = {{CudaGraph::none, "none"},
                                                 {CudaGraph::scoped, "scoped"},
                                                 {CudaGraph::full, "full"},
                                                 {CudaGraph::full, "full-iteration"},
                                                 {CudaGraph::full, "full_iteration"}};

template <>
std::span<const Named<CudaGraph>> vocabulary<CudaGraph>() {
  return cuda_graph_words;
}

constexpr Named<OffloadTarget> offload_target_words[] = {
    {OffloadTarget::host, "host"}, {OffloadTarget::host, "cpu"}, {OffloadTarget::nvme, "nvme"}};

template <>
std::span<const Named<OffloadTarget>> vocabulary<OffloadTarget>() {
  return offload_target_words;
}

constexpr Named<SaveCheckpoint> save_checkpoint_words[] = {
    {SaveCheckpoint::none, "none"},         {SaveCheckpoint::framework, "framework"},
    {SaveCheckpoint::full, "full"},         {SaveCheckpoint::full_cpu, "full-cpu"},
    {SaveCheckpoint::full_cpu, "full_cpu"}, {SaveCheckpoint::sharded, "sharded"},
    {SaveCheckpoint::async, "async"}};

template <>
std::span<const Named<SaveCheckpoint>> vocabulary<SaveCheckpoint>() {
  return save_checkpoint_words;
}

constexpr Named<ActivationModel> activation_model_words[] = {{ActivationModel::program, "program"},
                                                             {ActivationModel::none, "none"},
                                                             {ActivationModel::rule_of_thumb, "rule-of-thumb"}};

template <>
std::span<const Named<ActivationModel>> vocabulary<ActivationModel>() {
  return activation_model_words;
}

// The words for how a run is spread; see names.cpp for the rule of the order.

constexpr Named<Sharding> sharding_words[] = {
    {Sharding::none, "none"},   {Sharding::ddp, "ddp"},      {Sharding::zero1, "zero1"}, {Sharding::zero1, "zero-1"},
    {Sharding::zero2, "zero2"}, {Sharding::zero2, "zero-2"}, {Sharding::zero3, "zero3"}, {Sharding::zero3, "zero-3"},
    {Sharding::fsdp1, "fsdp1"}, {Sharding::fsdp2, "fsdp2"},  {Sharding::hsdp, "hsdp"}};

template <>
std::span<const Named<Sharding>> vocabulary<Sharding>() {
  return sharding_words;
}

constexpr Named<Schedule> schedule_words[] = {{Schedule::one_f_one_b, "1f1b"},
                                              {Schedule::gpipe, "gpipe"},
                                              {Schedule::zero_bubble, "zero-bubble"},
                                              {Schedule::zero_bubble, "zero_bubble"},
                                              {Schedule::zero_bubble, "zb-h1"}};

template <>
std::span<const Named<Schedule>> vocabulary<Schedule>() {
  return schedule_words;
}

constexpr Named<ContextExchange> context_exchange_words[] = {{ContextExchange::ring, "ring"},
                                                             {ContextExchange::ring, "p2p"},
                                                             {ContextExchange::all_to_all, "all-to-all"},
                                                             {ContextExchange::all_to_all, "all_to_all"},
                                                             {ContextExchange::all_to_all, "a2a"},
                                                             {ContextExchange::all_to_all, "ulysses"}};

template <>
std::span<const Named<ContextExchange>> vocabulary<ContextExchange>() {
  return context_exchange_words;
}

}  // namespace llmcalc::spec
