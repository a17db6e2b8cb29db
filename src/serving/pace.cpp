#include "serving/pace.hpp"

namespace llmcalc::serving {

namespace {

constexpr Pace vllm{18.0, 3.8, 0.0, 1.5, 13, 12.4, 0.62, 0.86, 0.138, 3.2};
constexpr Pace sglang{0.0, 8.9, 58, 7.6, 122, 0.0, 0.0, 1.07, 0.863, 12};
constexpr Pace trtllm{0.0, 0.2, 348, 7.1, 62, 0.0, 1.59, 2.31, 0.080, 0.82};

}  // namespace

/// transformers has no server of its own, and no measured rows: the engine with most kernels a layer stands for it.
const Pace& pace_of(spec::Engine engine) {
  if (engine == spec::Engine::sglang) return sglang;
  return engine == spec::Engine::trtllm ? trtllm : vllm;
}

double sustained(const spec::Accelerator& gpu) { return gpu.arch.starts_with("Hopper") ? 1.22 : 1.0; }

}  // namespace llmcalc::serving
