#include "serving/inner/padding.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/engine.hpp"
#include "serving/weights.hpp"

namespace llmcalc::serving {

namespace {

/// vLLM fused_moe/oracle/mxfp4.py: the widths of hidden state and expert come out in whole tiles of the kernel.
constexpr std::int64_t hidden_tile = 256;
constexpr std::int64_t expert_tile = 128;

/// gpt-oss-20b took 12.88 GiB, no tile more than it has, in the first release that served it (vllm issue 22331).
constexpr EngineRelease first_padded{0, 11};

/// Marlin, which runs where Triton's and FlashInfer's kernels do not, pads in every release (0.10.2
/// quantization/mxfp4.py, create_weights: gpt-oss-120b on four A100 took 17.22 GiB a rank, 15.25 without).
bool runs_marlin(const spec::Question& question) { return !spec::can(question.gpu, spec::Ability::mixtures_in_mxfp4); }

bool is_padding(const spec::Question& question) {
  const std::string& version = question.serving.engine_version;
  return version.empty() || parse_release(version) >= first_padded || runs_marlin(question);
}

bool pads_experts(const spec::Question& question, const layers::Weight& weight) {
  return question.serving.quant == formats::Quant::mxfp4 && question.serving.engine == spec::Engine::vllm &&
         is_expert(weight) && is_padding(question);
}

}  // namespace

Padded padded(const spec::Question& question, const layers::Weight& weight) {
  if (!pads_experts(question, weight)) return {weight.rows, weight.columns};
  const bool down = spec::use_of(weight.role) == Use::down;
  const std::int64_t rows = quantity::ceil_to(weight.rows, down ? expert_tile : hidden_tile);
  return {rows, quantity::ceil_to(weight.columns, down ? hidden_tile : expert_tile)};
}

}  // namespace llmcalc::serving
