// llmcalc scale: parameters, tokens, compute, time and money, each from the others, and what a law predicts of them
#include "cli/catalogue.hpp"
#include "cli/scale_options.hpp"
#include "cli/verb.hpp"
#include "laws/usual_mfu.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "render/scaling.hpp"

namespace llmcalc::cli {
namespace {

using laws::ScaleQuestion;

/// What an accelerator adds: its bandwidth where weights have a width, its peak, price and usual MFU where time or
/// money is in question.
void add_accelerator(ScaleQuestion& question, const spec::Accelerator& gpu) {
  const bool timed = question.gpus || question.time || question.mfu || question.gpu_time || question.cost;
  if (timed) {
    if (!question.peak) question.peak = half_peak(gpu);
    question.usual_mfu = laws::usual_mfu(gpu);
    if (gpu.price_per_hour) question.usual_price = {quantity::in_dollars(*gpu.price_per_hour), gpu.price_source};
  }
  if (!question.weight) return;
  if (!question.bandwidth) question.bandwidth = gpu.memory_bandwidth;
  if (!question.memory) question.memory = gpu.memory_usable;
}

/// Money and time follow from an accelerator's price and peak: whoever names none is told how to.
laws::ScaleAnswer scaled(const ScaleOptions& options) {
  const bool buys = options.question.cost || options.question.time || options.question.gpu_time;
  try {
    return laws::scale(options.question);
  } catch (const quantity::BadInput& error) {
    if (!options.gpu.empty() || !buys) throw;
    throw quantity::BadInput(error.place(), error.problem(), "--gpu h100:8; or " + error.hint());
  }
}

Outcome run(ScaleOptions options, const Arguments& arguments, const Environment& environment) {
  if (!options.gpu.empty()) {
    const auto catalogue = open_catalogue(arguments, environment);
    add_accelerator(options.question, catalogue.accelerator(options.gpu, "--gpu").accelerator);
  }
  const auto answer = scaled(options);
  if (wants_json(arguments)) return {.answer = render::to_json(answer, LLMCALC_VERSION)};
  const render::TextStyle style{.bars = environment.terminal, .explain = arguments.has("explain")};
  return {.answer = render::to_text(answer, style), .warnings = answer.warnings};
}

}  // namespace

Outcome scale(const Arguments& arguments, const Environment& environment) {
  arguments.names(0);
  return run(read_scale_options(arguments), arguments, environment);
}

}  // namespace llmcalc::cli
