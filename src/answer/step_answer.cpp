#include "answer/inner/parts.hpp"
#include "program/sharding.hpp"
#include "quantity/format.hpp"
#include "spec/names.hpp"
#include "trust/error_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace llmcalc::answer {

namespace {

using quantity::format_duration;
using timing::PassTime;
using timing::StepTime;

struct PartRow {
  std::string_view id, label, formula, source;
  quantity::Seconds (*time)(const StepTime&);
  std::string (*numbers)(const StepTime&, const spec::Question&);
};

/// Forward and backward pass of one kind of work.
template <quantity::Seconds PassTime::*kind>
quantity::Seconds both_passes(const StepTime& step) {
  return step.forward.*kind + step.backward.*kind;
}

template <PassTime StepTime::*pass>
quantity::Seconds all_of(const StepTime& step) {
  return (step.*pass).total();
}

template <quantity::Seconds StepTime::*time>
quantity::Seconds part(const StepTime& step) {
  return step.*time;
}

std::string micro_batches(const spec::Question& question) {
  const std::int64_t count = question.training.grad_accum;
  return fmt::format("{} micro-batch{}", count, count == 1 ? "" : "es");
}

/// "64 micro-batches x (59.4 ms forward + 119 ms backward) on the slowest stage"
std::string in_passes(quantity::Seconds forward, quantity::Seconds backward, const spec::Question& question) {
  const auto count = static_cast<double>(question.training.grad_accum);
  return fmt::format("{} x ({} forward + {} backward){}", micro_batches(question), format_duration(forward / count),
                     format_duration(backward / count), question.layout.pp > 1 ? " on the slowest stage" : "");
}

template <quantity::Seconds PassTime::*kind>
std::string numbers_of_passes(const StepTime& step, const spec::Question& question) {
  return in_passes(step.forward.*kind, step.backward.*kind, question);
}

std::string numbers_of_recompute(const StepTime& step, const spec::Question& question) {
  return in_passes(quantity::seconds(0), step.recompute.total(), question);
}

std::string numbers_of_pipeline(const StepTime&, const spec::Question& question) {
  const auto& layout = question.layout;
  const auto parts = layout.vpp > 1 ? fmt::format(" of {} virtual ones each", layout.vpp) : std::string();
  return fmt::format("{} stages{}, {}", layout.pp, parts, micro_batches(question));
}

std::string numbers_of_data(const StepTime&, const spec::Question& question) {
  const auto& layout = question.layout;
  return fmt::format("{} over {} ranks, {}", spec::name_of(layout.sharding), layout.dp * layout.cp,
                     program::StateSharding(layout).gathers_weights() ? micro_batches(question) : "once a step");
}

std::string numbers_of_offload(const StepTime&, const spec::Question& question) {
  const auto& training = question.training;
  return fmt::format("{} on {}", spec::name_of(training.offload), spec::name_of(training.offload_to));
}

std::string once_a_step(const StepTime&, const spec::Question&) { return "once a step"; }

constexpr PartRow part_rows[] = {
#include "ledger/step_parts.inc"
};

/// The parts that take any time, longest first.
std::vector<StepPart> step_parts(const timing::StepTime& step, const spec::Question& question) {
  std::vector<StepPart> parts;
  for (const PartRow& row : part_rows) {
    const quantity::Seconds time = row.time(step);
    if (time <= quantity::Seconds{}) continue;
    parts.push_back({std::string(row.id),
                     std::string(row.label),
                     time,
                     {std::string(row.formula), row.numbers(step, question), std::string(row.source)}});
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &StepPart::time);
  return parts;
}

std::string source_of(const trust::TimeErrorBar& bar, const spec::Bias& own) {
  if (own.is_known()) return fmt::format("covers nine in ten of {} runs of your own", own.runs);
  if (bar.runs == 0) return fmt::format("{} were not measured of this framework: as the engine under it", bar.kind);
  return fmt::format("nine in ten measured runs of {} lie inside, of frameworks like it too, n = {}", bar.kind,
                     bar.runs);
}

/// Six FLOPs a parameter and token are those of a run that trains them all; with frozen weights there are fewer.
bool trains_all(const program::Size& size) { return size.trainable >= size.total; }

void take_mfu(double mfu, quantity::Seconds at_peak, TimeAnswer& answer) {
  answer.mfu = mfu;
  answer.mfu_source = "as given";
  answer.step = at_peak / mfu;
}

void take_bar(const spec::Question& question, const timing::StepTime& time, TimeAnswer& answer) {
  const double growth = time.growth_on_slower_host(trust::slow_host, question.training.launch_blocking);
  const trust::TimeErrorBar bar = trust::time_error_bar(question, growth);
  answer.error = bar.spread;
  answer.error_source = source_of(bar, question.calibration.time);
}

void take_step(const spec::Question& question, const Walks& walks, quantity::Seconds at_peak, TimeAnswer& answer) {
  const timing::StepTime& time = walks.step;
  const double bias = question.calibration.time.factor;
  answer.step = bias * time.total();
  answer.step_parts = step_parts(time, question);
  for (StepPart& part : answer.step_parts) part.time = bias * part.time;
  take_bar(question, time, answer);
  answer.mfu = at_peak / answer.step;
  answer.mfu_source = "model FLOPs over peak, in the time of the step";
}

void utilize(const Walks& walks, TimeAnswer& answer) {
  for (FlopFigure& figure : answer.flops) {
    if (figure.id == "six_pd" && !trains_all(walks.size)) continue;
    figure.utilization = answer.tokens_per_gpu * in_flops(figure.per_token) / in_flops_per_second(answer.peak);
  }
}

}  // namespace

double step_tokens(const spec::Question& question) { return static_cast<double>(question.training.step_tokens()); }

/// MFU = model FLOPs over what the accelerators could have done in the time (Chowdhery et al. 2022, arXiv:2204.02311
/// appendix B); a given one is solved for the time.
void clock_step(const spec::Question& question, const Walks& walks, TimeAnswer& answer) {
  const double tokens = step_tokens(question);
  const quantity::Flops work = answer.flops[1].per_token * tokens;
  const auto gpus = static_cast<double>(question.layout.gpus);
  const quantity::Seconds at_peak = work / (gpus * answer.peak);
  if (question.pricing.mfu) {
    take_mfu(*question.pricing.mfu, at_peak, answer);
  } else {
    take_step(question, walks, at_peak, answer);
  }
  answer.tokens_per_gpu = tokens / (gpus * in_seconds(answer.step));
  utilize(walks, answer);
}

}  // namespace llmcalc::answer
