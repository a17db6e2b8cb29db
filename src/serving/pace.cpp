#include "serving/pace.hpp"

namespace llmcalc::serving {

namespace {

constexpr Pace vllm{18.0, 3.8, 0.0, 1.5, 0.89, 45, 1.46, 0.14, 0.4};
constexpr Pace sglang{0.0, 8.9, 58, 7.6, 0.87, 171, 1.34, 0.84, 4.2};
constexpr Pace trtllm{0.0, 0.2, 348, 7.1, 1.1, 87, 1.43, 0.16, 4.2};

}  // namespace

/// transformers has no server of its own, and no measured rows: the engine with most kernels a layer stands for it.
const Pace& pace_of(spec::Engine engine) {
  if (engine == spec::Engine::sglang) return sglang;
  return engine == spec::Engine::trtllm ? trtllm : vllm;
}

}  // namespace llmcalc::serving
