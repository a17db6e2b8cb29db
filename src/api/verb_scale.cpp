// llmcalc scale: parameters, tokens, compute, time and money, each from the others, and what a law predicts of them
#include "api/inner/scale_options.hpp"
#include "api/verbs.hpp"
#include "laws/usual_mfu.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "render/scaling.hpp"

namespace llmcalc::api {
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

}  // namespace

Reply ask_scale(const Arguments& arguments, const Surroundings& around) {
  arguments.names(0);
  auto options = read_scale_options(arguments);
  if (!options.gpu.empty()) {
    const auto catalogue = around.catalogue(arguments);
    add_accelerator(options.question, catalogue.accelerator(options.gpu, "--gpu").accelerator);
  }
  const auto answer = scaled(options);
  const render::TextStyle style{.bars = around.terminal, .explain = arguments.has("explain")};
  Reply reply{.warnings = answer.warnings};
  reply.show = [answer, style](std::string_view form) {
    return form == "json" ? render::to_json(answer, version()) : render::to_text(answer, style);
  };
  return reply;
}

}  // namespace llmcalc::api
