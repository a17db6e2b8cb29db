#include "serving/pace.hpp"

namespace llmcalc::serving {

namespace {

constexpr Pace vllm{15.5, 0.0, 0.0, 16.8, 0.0, 0.0, 13.9, 13.9, 0.57, 0.95, 0.12, 0.156, 3.0};
constexpr Pace sglang{0.0, 7.6, 0.0, 19.1, 80, 201, 101, 9.0, 0.0, 1.76, 1.0, 0.32, 3.7};
constexpr Pace trtllm{0.0, 0.0, 297, 16.4, 470, 161, 52, 8.2, 0.30, 1.53, 0.128, 0.062, 3.9};

}  // namespace

/// transformers has no server of its own, and no measured rows: the engine with most kernels a layer stands for it.
const Pace& pace_of(spec::Engine engine) {
  if (engine == spec::Engine::sglang) return sglang;
  return engine == spec::Engine::trtllm ? trtllm : vllm;
}

double sustained(const spec::Accelerator& gpu) { return gpu.arch.starts_with("Hopper") ? 1.22 : 1.0; }

}  // namespace llmcalc::serving
