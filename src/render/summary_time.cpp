#include "quantity/format.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/inner/style.hpp"
#include "render/inner/summary.hpp"
#include "render/inner/text_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace llmcalc::render {
namespace {

using quantity::format_duration;

/// "1.47 s (±25 %), 2,789 tokens/s a GPU, MFU 56.3 %"
std::string step_of(const answer::TimeAnswer& time) {
  const auto error = time.error_share > 0 ? fmt::format(" (±{})", share_text(time.error_share)) : std::string();
  return fmt::format("{}{}, {} tokens/s a GPU, MFU {}", format_duration(time.step), error,
                     figure_text(time.tokens_per_gpu), quantity::format_percent(time.mfu));
}

std::string cost_of(const answer::TimeAnswer& time) {
  if (!time.cost) return "cost unknown (--price)";
  if (!time.price) return quantity::format_money(*time.cost);
  return fmt::format("{} at {}/h", quantity::format_money(*time.cost), quantity::format_money(*time.price));
}

/// "9.55 days for 20B tokens, 229 GPU-hours, $298 at $1.30/h"; steps where the run is counted in them.
std::string length_of(const Report& report) {
  const answer::TimeAnswer& time = report.estimate.compute;
  const auto steps = echoed(report, "steps");
  const auto length = steps.empty() ? quantity::format_tokens(time.tokens) + " tokens" : steps + " steps";
  if (time.goodput && !time.goodput->makes_progress()) return "never ends: failures come faster than it restarts";
  return fmt::format("{} for {}, {} GPU-hours, {}", format_duration(time.total), length, figure_text(time.gpu_hours),
                     cost_of(time));
}

}  // namespace

Paragraph summary_time(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  if (!report.estimate.timed) return {labelled("time", "needs an accelerator: name one with --gpu", style), 1};
  Paragraph block{labelled("step", step_of(time), style), 0};
  std::ranges::move(labelled("run", length_of(report), style), std::back_inserter(block.lines));
  block.least = block.lines.size();
  return block;
}

}  // namespace llmcalc::render
