#include "answer/parts.hpp"
#include "llmcalc/timing/step_time.hpp"

namespace llmcalc::answer {

namespace {

timing::StepTime step_time(const spec::Question& question, const Walks& walks) {
  const timing::Kernels kernels(*question.gpu, question.training);
  const timing::Network network(*question.gpu, question.layout);
  return timing::time_step(walks.program, question, walks.profile,
                           {kernels, network, question.training.precision.compute});
}

}  // namespace

/// MFU = model FLOPs over what the accelerators could have done in the time (Chowdhery et al. 2022, arXiv:2204.02311
/// appendix B); a given one is solved for the time.
void clock_step(const spec::Question& question, const Walks& walks, TimeAnswer& answer) {
  const auto step_tokens =
      static_cast<double>(quantity::product(question.training.global_batch, question.training.seq));
  const quantity::Flops work = answer.flops[1].per_token * step_tokens;
  const auto gpus = static_cast<double>(question.layout.gpus);
  const quantity::Seconds at_peak = work / (gpus * answer.peak);
  if (question.pricing.mfu) {
    answer.mfu = *question.pricing.mfu;
    answer.mfu_source = "as given";
    answer.step = at_peak / answer.mfu;
  } else {
    answer.by_parts = step_time(question, walks);
    answer.step = answer.by_parts->total();
    answer.mfu = at_peak / answer.step;
    answer.mfu_source = "model FLOPs over peak, in the time of the step";
  }
  answer.tokens_per_gpu = step_tokens / (gpus * in_seconds(answer.step));
}

}  // namespace llmcalc::answer
