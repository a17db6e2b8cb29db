// The names that members of a framework's file (presets/frameworks) take their values from, and sets that several
// share.
#pragma once

#include "frameworks/table.hpp"

namespace llmcalc::frameworks::values {

namespace framework {
using enum spec::Framework;
}
namespace states {
using enum StateRecipe;
}
namespace engine {
using enum TrainingEngine;
}
namespace half {
using enum HalfPrecision;
}
namespace memory_runs {
using enum MemoryRuns;
}
namespace profile {}
namespace splits_models {}
namespace otherwise {}

namespace methods {
using enum spec::Method;
/// Any program can run its model forward.
inline constexpr Set<spec::Method> pretraining{full, inference, forward_only};
inline constexpr Set<spec::Method> low_rank{lora, dora};
inline constexpr Set<spec::Method> all{pretraining, low_rank, qlora, adalora, ia3, prompt, prefix, adapter, galore};
}  // namespace methods

namespace algorithms {
using enum spec::Algorithm;
inline constexpr Set<spec::Algorithm> all{sft, dpo, orpo, kto, ppo, grpo};
}  // namespace algorithms

namespace shardings {
using enum spec::Sharding;
inline constexpr Set<spec::Sharding> replicas{none, ddp};
inline constexpr Set<spec::Sharding> zero{zero1, zero2, zero3};
inline constexpr Set<spec::Sharding> fsdp{fsdp1, fsdp2, hsdp};
inline constexpr Set<spec::Sharding> all{replicas, zero, fsdp};
}  // namespace shardings

namespace splits {
using enum Parallelism;
inline constexpr Set<Parallelism> all{tensor, sequence, pipeline, virtual_stages, context, experts, expert_tensor};
}  // namespace splits

namespace exchanges {
using enum spec::ContextExchange;
}
namespace schedules {
using enum spec::Schedule;
}

namespace offloads {
using enum spec::Offload;
inline constexpr Set<spec::Offload> states{none, optimizer, optimizer_gradients};
inline constexpr Set<spec::Offload> weights{none, params};
inline constexpr Set<spec::Offload> all{states, weights, activations, params_optimizer};
}  // namespace offloads

namespace optimizers {
using enum spec::Optimizer;
/// torch.optim (Muon since torch 2.9). Nothing is updated where nothing is trained.
inline constexpr Set<spec::Optimizer> of_torch{adamw, none, sgd, sgd_momentum, adagrad, adafactor, muon};
inline constexpr Set<spec::Optimizer> of_bitsandbytes{adamw_8bit, paged_adamw, paged_adamw_8bit, lion, lamb};
/// tr/training_args.py of transformers, OptimizerNames: no Muon, no LAMB.
inline constexpr Set<spec::Optimizer> of_trainer{adamw,
                                                 none,
                                                 sgd,
                                                 sgd_momentum,
                                                 adagrad,
                                                 adafactor,
                                                 adamw_8bit,
                                                 paged_adamw,
                                                 paged_adamw_8bit,
                                                 lion,
                                                 adamw_4bit,
                                                 galore_adamw_8bit,
                                                 apollo,
                                                 apollo_mini,
                                                 lomo,
                                                 adalomo,
                                                 adamw_8bit_torchao};
inline constexpr Set<spec::Optimizer> all{of_trainer, muon, lamb, shampoo, soap};
}  // namespace optimizers

namespace quantized {
using enum formats::Dtype;
inline constexpr Set<formats::Dtype> bitsandbytes{nf4, nf4_dq, fp4, fp4_dq, int8};
inline constexpr Set<formats::Dtype> all{bitsandbytes, int4_gptq, int8_gptq, int4, mxfp4};
}  // namespace quantized

namespace narrow {
using enum formats::Dtype;
inline constexpr Set<formats::Dtype> fp8{fp8_e4m3, fp8_e5m2};
inline constexpr Set<formats::Dtype> all{fp8, mxfp8, nvfp4};
}  // namespace narrow

namespace losses {
using enum spec::Loss;
inline constexpr Set<spec::Loss> of_torch{standard, compiled};
/// Liger-Kernel, Cut Cross-Entropy and the like take the place of transformers' loss.
inline constexpr Set<spec::Loss> of_kernels{of_torch, chunked, fused, fused_linear, cut};
inline constexpr Set<spec::Loss> parallel{standard, vocab_parallel, vocab_parallel_fused, te_fused};
inline constexpr Set<spec::Loss> all{of_kernels, parallel};
}  // namespace losses

}  // namespace llmcalc::frameworks::values
