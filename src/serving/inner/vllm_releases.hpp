// Releases of vLLM at which what is accounted for here changed.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving::of_vllm {

inline constexpr EngineRelease larger_chunks{0, 7};       // of prompts beyond 32k: 2048 tokens instead of 512
inline constexpr EngineRelease first_engine_v1{0, 8};     // one scheduler that always chunks prefills
inline constexpr EngineRelease snapshots{0, 9};           // v1/worker/gpu_worker.py: counts from what was in use before
inline constexpr EngineRelease leaner_steps{0, 9};        // v1/worker/gpu_model_runner.py; EAGLE in graphs
inline constexpr EngineRelease joins_kernels{0, 12};      // config/compilation.py: benchmark_combo_kernel
inline constexpr EngineRelease fused_sampler{0, 17};      // v1/sample/ops/topk_topp_triton.py
inline constexpr EngineRelease larger_share{0, 20};       // config/cache.py: 0.92 instead of 0.90
inline constexpr EngineRelease estimates_graphs{0, 21};   // v1/worker/gpu_worker.py: graphs come out of the cache
inline constexpr EngineRelease caches_states{0, 27};      // prefixes of hybrids are cached unasked (vllm pull 50991)
inline constexpr EngineRelease second_runner{0, 29};      // v1/worker/gpu/model_runner.py for every model
inline constexpr EngineRelease exports_states{0, 33};     // kernels that hand out the state inside a prompt
inline constexpr EngineRelease warms_up_sampling{0, 33};  // SamplingParams.for_sampler_warmup in the profile run
inline constexpr EngineRelease newest{0, 33};

}  // namespace llmcalc::serving::of_vllm
