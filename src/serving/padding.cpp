#include "serving/padding.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/serving/engine.hpp"
#include "llmcalc/serving/weights.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::serving {

namespace {

/// vLLM fused_moe/oracle/mxfp4.py: the widths of hidden state and expert come out in whole tiles of the kernel.
constexpr std::int64_t hidden_tile = 256;
constexpr std::int64_t expert_tile = 128;

/// gpt-oss-20b took 12.88 GiB, no tile more than it has, in the first release that served it (vllm issue 22331).
constexpr EngineRelease first_padded{0, 11};

bool is_padding(const std::string& version) { return version.empty() || parse_release(version) >= first_padded; }

bool pads_experts(const spec::Question& question, const layers::Weight& weight) {
  return question.serving.quant == formats::Quant::mxfp4 && question.serving.engine == spec::Engine::vllm &&
         is_expert(weight) && is_padding(question.serving.engine_version);
}

}  // namespace

Padded padded(const spec::Question& question, const layers::Weight& weight) {
  if (!pads_experts(question, weight)) return {weight.rows, weight.columns};
  const bool down = role_of(weight) == Role::down;
  const std::int64_t rows = quantity::ceil_to(weight.rows, down ? expert_tile : hidden_tile);
  return {rows, quantity::ceil_to(weight.columns, down ? hidden_tile : expert_tile)};
}

}  // namespace llmcalc::serving
