#include "llmcalc/trust/server_error_bar.hpp"

namespace llmcalc::trust {

using spec::Measure;

namespace {

/// 90th percentiles of measured over predicted in tests/measured/serving, or those of models that were left out of the
/// fit where they are wider (SGLang); an engine without measured runs is as far off as the furthest.
constexpr double to_first_token(spec::Engine engine) { return engine == spec::Engine::vllm ? 0.55 : 0.85; }

constexpr double of_each_token(spec::Engine engine) {
  switch (engine) {
    case spec::Engine::vllm:
      return 0.25;
    case spec::Engine::trtllm:
      return 0.30;
    default:
      return 0.40;
  }
}

}  // namespace

/// Sizes of tensors are sums; what a runtime adds to them was measured on few runs (tests/measured/serving), so that
/// the bars are the furthest of them rather than a percentile. CUDA graphs were seen from 0.17 to 1.03 GiB.
Spread server_error_bar(spec::Engine engine, Measure measure) {
  switch (measure) {
    case Measure::weights:
    case Measure::host_weights:
    case Measure::file_size:
    case Measure::bits_per_weight:
      return even(0.003);
    case Measure::kv_bytes_per_token:
    case Measure::recurrent_state:
      return even(0.001);
    case Measure::kv_cache:
      return even(spec::reads_gguf(engine) ? 0.001 : 0.03);
    case Measure::activation_peak:
    case Measure::compute_buffer:
      return even(0.12);
    case Measure::cuda_graphs:
      return {0.7, 2.0};
    case Measure::non_torch:
      return even(0.25);
    case Measure::ttft:
      return even(to_first_token(engine));
    case Measure::tpot:
    case Measure::throughput_tok_s:
      return even(of_each_token(engine));
    case Measure::decode_tok_s:
      return even(0.15);
    case Measure::prefill_tok_s:
      return even(0.34);
    default:
      return even(0.05);
  }
}

}  // namespace llmcalc::trust
