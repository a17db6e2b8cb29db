// What one estimate of memory and time of a parallel run costs in microseconds, program built anew and every pipeline
// stage walked.

#include "memory/step_walk.hpp"
#include "program/build.hpp"
#include "read/presets.hpp"
#include "timing/step_time.hpp"

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
  q.training.precision.grads = formats::Dtype::fp32;
  q.training.precision.master = true;
  q.training.seq = 8192;
  q.training.grad_accum = 64;
  q.layout.tp = c.tp;
  q.layout.sp = c.tp > 1;
  q.layout.pp = c.pp;
  q.layout.vpp = c.vpp;
  q.layout.dp = c.dp;
  q.gpu = read::Catalogue().accelerator("h100-sxm", "bench").accelerator;
  q.layout.gpus = c.tp * c.pp * c.dp;
  q.layout.sharding = spec::Sharding::zero1;
  return q;
}

timing::StepTime step_time(const spec::Question& q, const frameworks::Profile& profile, const program::Program& program) {
  const timing::KernelPrices kernels(*q.gpu, q.training, profile);
  const timing::Network network(*q.gpu, q.layout);
  return timing::time_step(program, q, profile, {kernels, network, q.training.precision.compute});
}

/// Bytes of the highest peak and nanoseconds of the step, so that nothing can be optimized away.
std::int64_t estimate(const spec::Question& q, program::Program& program) {
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  program::build_program(q, profile, program);
  const memory::StepWalk walk(program, q, profile);
  std::int64_t highest = 0;
  for (std::int64_t stage = 0; stage < q.layout.pp; ++stage) {
    highest = std::max(highest, quantity::in_bytes(walk.walk(stage).peak().alive.total()));
  }
  const auto nanoseconds = 1e9 * quantity::in_seconds(step_time(q, profile, program).total());
  return highest + static_cast<std::int64_t>(nanoseconds);
}

double microseconds_per_estimate(const spec::Question& q) {
  using Clock = std::chrono::steady_clock;
  constexpr int repetitions = 2000;
  program::Program program;
  std::int64_t sum = estimate(q, program);
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) sum += estimate(q, program);
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
