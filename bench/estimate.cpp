// What one memory estimate of a parallel run costs, program built anew and every pipeline stage walked, in microseconds.

#include "llmcalc/memory/step_walk.hpp"
#include "llmcalc/program/build.hpp"
#include "llmcalc/read/presets.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

using namespace llmcalc;

namespace {

struct Case {
  std::string_view model;
  std::int64_t tp, pp, vpp, dp;
};

spec::Question question(const Case& c) {
  spec::Question q;
  q.model = spec::build_model(read::Catalogue().model(c.model, "bench").shape);
  q.training.framework = spec::Framework::megatron;
  q.training.precision.grads = spec::Dtype::fp32;
  q.training.precision.master = true;
  q.training.seq = 8192;
  q.training.grad_accum = 64;
  q.layout.tp = c.tp;
  q.layout.sp = c.tp > 1;
  q.layout.pp = c.pp;
  q.layout.vpp = c.vpp;
  q.layout.dp = c.dp;
  q.layout.gpus = c.tp * c.pp * c.dp;
  q.layout.sharding = spec::Sharding::zero1;
  return q;
}

/// Bytes of the highest peak, so that nothing can be optimized away.
std::int64_t peak(const spec::Question& q, program::Program& program) {
  const auto profile = program::make_profile(q.training, q.gpu);
  program::build_program(q, profile, program);
  const memory::StepWalk walk(program, q, profile);
  std::int64_t highest = 0;
  for (std::int64_t stage = 0; stage < q.layout.pp; ++stage) {
    highest = std::max(highest, quantity::in_bytes(walk.walk(stage).peak().alive.total()));
  }
  return highest;
}

double microseconds_per_estimate(const spec::Question& q) {
  using Clock = std::chrono::steady_clock;
  constexpr int repetitions = 2000;
  program::Program program;
  std::int64_t sum = peak(q, program);
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) sum += peak(q, program);
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  return sum > 0 ? spent.count() / repetitions : 0.0;
}

}  // namespace

int main() {
  constexpr Case cases[] = {{"llama-3-8b", 1, 1, 1, 8},
                            {"llama-3-70b", 8, 4, 1, 16},
                            {"llama-3.1-405b", 8, 16, 1, 128},
                            {"deepseek-v3", 1, 16, 1, 128}};
  for (const Case& c : cases) {
    fmt::print("{:16} tp {:2} pp {:2} dp {:3}: {:7.1f} us\n", c.model, c.tp, c.pp, c.dp,
               microseconds_per_estimate(question(c)));
  }
}
