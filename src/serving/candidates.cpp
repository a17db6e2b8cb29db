#include "serving/inner/candidates.hpp"

#include "llmcalc/spec/question.hpp"
#include "serving/speed.hpp"

#include <utility>

namespace llmcalc::serving {

using formats::Quant;
using spec::Engine;
using spec::Question;

bool carries(const Deployment& deployment, const Capacity& capacity) {
  const Question& question = deployment.question;
  const auto& load = question.serving.load;
  const Demand alone{capacity.context, 1};
  if (!starts(tightest_rank(deployment, alone))) return false;
  if (deployment.prefill && !starts(tightest_rank(*deployment.prefill, alone))) return false;
  if (!load.rate && capacity.max_concurrency < load.concurrency) return false;
  if (!question.gpu || !(load.rate || is_limited(load))) return true;
  const auto speed = speed_of(deployment);
  return speed && keeps_limits(load, *speed);
}

Candidate weigh(const Question& question, std::string change, std::string cost) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  return {std::move(change),    std::move(cost),          capacity.max_concurrency > 0,
          capacity.max_context, capacity.max_concurrency, carries(deployment, capacity)};
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
