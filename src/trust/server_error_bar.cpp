#include "trust/server_error_bar.hpp"

namespace llmcalc::trust {

using spec::Measure;

namespace {

/// 90th percentiles of measured over predicted in tests/measured/serving, of models that were left out of the fit
/// (scripts/fit-servers --leave-out); an engine without measured runs is as far off as the furthest. What TensorRT-LLM
/// is off by are requests that wait for others' answers.
constexpr Spread to_first_token(spec::Engine engine) {
  switch (engine) {
    case spec::Engine::vllm: return even(0.55);
    case spec::Engine::sglang: return even(0.50);
    default: return {.below = 0.45, .above = 1.0};
  }
}

constexpr double of_each_token(spec::Engine engine) { return engine == spec::Engine::vllm ? 0.25 : 0.30; }

/// The furthest of llama.cpp's are runs that do not say which context or cache they started with.
Spread of_device(spec::Engine engine) {
  return spec::reads_gguf(engine) ? Spread{.below = 0.27, .above = 0.15} : Spread{.below = 0.05, .above = 0.10};
}

}  // namespace

/// 90th percentiles of the rows of tests/measured/serving, the furthest where they are few. CUDA graphs were seen from
/// 0.17 to 1.03 GiB.
Spread server_error_bar(spec::Engine engine, Measure measure) {
  switch (measure) {
    case Measure::weights: return even(spec::reads_gguf(engine) ? 0.013 : 0.026);
    case Measure::host_weights:
    case Measure::bits_per_weight: return even(0.013);
    case Measure::file_size: return even(0.007);
    case Measure::kv_bytes_per_token:
    case Measure::recurrent_state: return even(0.001);
    case Measure::kv_cache: return even(spec::reads_gguf(engine) ? 0.001 : 0.18);
    case Measure::kv_tokens: return even(0.21);
    case Measure::device_total: return of_device(engine);
    case Measure::activation_peak:
    case Measure::compute_buffer: return even(0.16);
    case Measure::cuda_graphs: return {0.7, 2.0};
    case Measure::non_torch: return even(0.25);
    case Measure::ttft: return to_first_token(engine);
    case Measure::tpot:
    case Measure::throughput_tok_s: return even(of_each_token(engine));
    case Measure::decode_tok_s: return even(spec::reads_gguf(engine) ? 0.16 : 0.37);
    case Measure::prefill_tok_s: return even(0.35);
    default: return even(0.05);
  }
}

}  // namespace llmcalc::trust
