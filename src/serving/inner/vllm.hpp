// What vLLM finds in use beside weights and cache when it sizes the cache: a profile run, and what lies outside
// PyTorch; and the releases at which what is accounted for changed.
#pragma once

#include "serving/engine.hpp"

#include <cstdint>

namespace llmcalc::serving {

namespace of_vllm {

inline constexpr EngineRelease larger_chunks{0, 7};       // of prompts beyond 32k: 2048 tokens instead of 512
inline constexpr EngineRelease first_engine_v1{0, 8};     // one scheduler that always chunks prefills
inline constexpr EngineRelease snapshots{0, 9};           // v1/worker/gpu_worker.py: counts from what was in use before
inline constexpr EngineRelease leaner_steps{0, 9};        // v1/worker/gpu_model_runner.py; EAGLE in graphs
inline constexpr EngineRelease joins_kernels{0, 12};      // config/compilation.py: benchmark_combo_kernel
inline constexpr EngineRelease leaner_front{0, 19};       // 1,089 requests of 32 tokens a second (vllm pull 39113)
inline constexpr EngineRelease flash_states{0, 24};       // FlashInfer's gated delta rule, as its tables have it
inline constexpr EngineRelease schedules_ahead{0, 14};    // config/vllm.py: async_scheduling where nobody forbids it
inline constexpr EngineRelease fused_sampler{0, 17};      // v1/sample/ops/topk_topp_triton.py
inline constexpr EngineRelease larger_share{0, 20};       // config/cache.py: 0.92 instead of 0.90
inline constexpr EngineRelease estimates_graphs{0, 20};   // envs.py: graphs come out of the cache
inline constexpr EngineRelease wider_steps{0, 28};        // of 16,384 tokens; graphs of 1,024 (vllm pulls 51726, 49390)
inline constexpr EngineRelease caches_states{0, 27};      // prefixes of hybrids are cached unasked (vllm pull 50991)
inline constexpr EngineRelease second_quantized{0, 24};   // config/vllm.py, _is_default_v2_model_runner_model
inline constexpr EngineRelease dense_in_second{0, 25};    // v1/worker/gpu/model_runner.py for dense models
inline constexpr EngineRelease packs_groups{0, 25};       // v1/core/kv_cache_utils.py, _get_kv_cache_config_packed
inline constexpr EngineRelease settles_tokens{0, 26};     // config/vllm.py, max_in_flight_tokens
inline constexpr EngineRelease second_encodes{0, 27};     // v1/worker/gpu/model_runner.py: profile_run encodes images
inline constexpr EngineRelease second_runner{0, 29};      // it runs every model, and estimates graphs
inline constexpr EngineRelease exports_states{0, 33};     // kernels that hand out the state inside a prompt
inline constexpr EngineRelease warms_up_sampling{0, 33};  // SamplingParams.for_sampler_warmup in the profile run
inline constexpr EngineRelease newest{0, 33};

}  // namespace of_vllm

/// Whether the second of vLLM's model runners takes this model.
bool takes_second_runner(const Deployment& deployment);

/// The encoder's part of a profile run: images as many as a step takes.
struct EncoderRun {
  std::int64_t items = 0;   ///< images that are encoded together
  quantity::Bytes outputs;  ///< what they become for the text model, kept in the encoder's cache
  quantity::Bytes peak;     ///< of the pass
};

/// Nothing where the model has no towers, or the text part alone is served.
/// \param tokens  of a step
EncoderRun encoder_run(const Deployment& deployment, std::int64_t tokens);

/// The peak of the profile run, and what the sampler keeps of every sequence.
/// \param tokens  of a step
void hold_profile(const Deployment& deployment, const Stage& stage, std::int64_t tokens, RankMemory& memory);

/// Workspaces of kernels, NCCL and the custom all-reduce, and the CUDA context where it counts.
void hold_beside_torch(const Deployment& deployment, RankMemory& memory);

/// The CUDA context where it was there before the engine took its first look at what is free, so that it lies outside
/// the engine's share.
quantity::Bytes context_outside(const EngineRelease& release);

}  // namespace llmcalc::serving
