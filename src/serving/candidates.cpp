#include "serving/inner/candidates.hpp"

#include "llmcalc/spec/question.hpp"

#include <utility>

namespace llmcalc::serving {

using formats::Quant;
using spec::Engine;
using spec::Question;

Candidate weigh(const Question& question, std::string change, std::string cost) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  return {
      std::move(change),    std::move(cost),          capacity.max_concurrency > 0,
      capacity.max_context, capacity.max_concurrency, capacity.max_concurrency >= question.serving.load.concurrency};
}

namespace {

constexpr Quant torch_ladder[] = {Quant::bf16, Quant::fp8, Quant::awq};
constexpr Quant ggml_ladder[] = {Quant::f16,    Quant::q8_0,   Quant::q6_k, Quant::q5_k_m,
                                 Quant::q4_k_m, Quant::q3_k_m, Quant::q2_k};

}  // namespace

std::span<const Quant> ladder(Engine engine) {
  if (spec::reads_gguf(engine)) return ggml_ladder;
  return torch_ladder;
}

}  // namespace llmcalc::serving
