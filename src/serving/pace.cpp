#include "serving/pace.hpp"

namespace llmcalc::serving {

namespace {

constexpr Pace vllm{.layer = 15.5,
                    .mixture = 0.0,
                    .step = 0.0,
                    .request = 16.8,
                    .draft_step = 0.0,
                    .draft_request = 0.0,
                    .first = 13.9,
                    .token = 13.9,
                    .seat = 0.57,
                    .prompt = 0.95,
                    .wave = 0.12,
                    .drawn_wave = 0.156,
                    .steps = 3.0};
constexpr Pace sglang{.layer = 0.0,
                      .mixture = 7.6,
                      .step = 0.0,
                      .request = 19.1,
                      .draft_step = 80,
                      .draft_request = 201,
                      .first = 101,
                      .token = 9.0,
                      .seat = 0.0,
                      .prompt = 1.76,
                      .wave = 1.0,
                      .drawn_wave = 0.32,
                      .steps = 3.7};
constexpr Pace trtllm{.layer = 0.0,
                      .mixture = 0.0,
                      .step = 297,
                      .request = 16.4,
                      .draft_step = 470,
                      .draft_request = 161,
                      .first = 52,
                      .token = 8.2,
                      .seat = 0.30,
                      .prompt = 1.53,
                      .wave = 0.128,
                      .drawn_wave = 0.062,
                      .steps = 3.9};

}  // namespace

/// transformers has no server of its own, and no measured rows: the engine with most kernels a layer stands for it.
const Pace& pace_of(spec::Engine engine) {
  if (engine == spec::Engine::sglang) return sglang;
  return engine == spec::Engine::trtllm ? trtllm : vllm;
}

double sustained(const spec::Accelerator& gpu) { return gpu.arch.starts_with("Hopper") ? 1.22 : 1.0; }

}  // namespace llmcalc::serving
