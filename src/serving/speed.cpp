#include "serving/speed.hpp"

#include "llmcalc/spec/question.hpp"
#include "serving/answer.hpp"
#include "serving/inner/load_clock.hpp"
#include "spec/load.hpp"
#include "spec/names.hpp"
#include "timing/energy.hpp"
#include "trust/error_bar.hpp"

#include <algorithm>
#include <limits>

namespace llmcalc::serving {

using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;

namespace {

/// A queue that grows as long as requests come has no length to wait for.
void wait_for_ever(Speed& speed) {
  constexpr double never = std::numeric_limits<double>::infinity();
  speed.concurrency = speed.queued = never;
  speed.admission = speed.ttft = speed.request = seconds(never);
}

/// Where more come than leave while every seat is taken, the others wait ever longer.
Speed at_rate(const LoadClock& clock, double rate) {
  Speed full = clock.full();
  full.saturated = full.requests_per_s < rate;
  if (!full.saturated) return clock.as_it_comes(rate);
  wait_for_ever(full);
  return full;
}

double rate_of(const std::vector<spec::Request>& trace) {
  const double span = trace.back().arrival - trace.front().arrival;
  return span > 0 ? static_cast<double>(trace.size() - 1) / span : 0.0;
}

void add_throughput(const Deployment& deployment, Speed& speed) {
  const auto& load = deployment.question.serving.load;
  speed.tokens_per_s = speed.requests_per_s * mean_length(load.output, load);
  speed.prompt_tokens_per_s = speed.requests_per_s * mean_length(load.prompt, load);
  speed.tokens_per_s_per_gpu = speed.tokens_per_s / static_cast<double>(deployment.question.layout.gpus);
  if (speed.tpot > seconds(0)) speed.tokens_per_s_per_user = 1.0 / in_seconds(speed.tpot);
}

/// Share of the accelerators' time that prompts take: all that those take which read nothing else.
double share_of_prompts(const Deployment& deployment, const Speed& speed) {
  const spec::Question& question = deployment.question;
  const spec::Layout& layout = question.layout;
  if (deployment.prefill)
    return static_cast<double>(deployment.prefill->question.layout.gpus) / static_cast<double>(layout.gpus);
  const auto copies = static_cast<double>(layout.dp * question.serving.layout.attention_dp);
  return std::min(1.0, speed.requests_per_s * in_seconds(speed.prefill) / copies);
}

}  // namespace

std::optional<quantity::Money> price_of(const spec::Question& question) {
  if (question.pricing.price_per_hour) return question.pricing.price_per_hour;
  return question.gpu ? question.gpu->price_per_hour : std::nullopt;
}

namespace {

/// An hour of all accelerators, shared by what prompts and answers take of it.
void add_cost(const Deployment& deployment, Speed& speed) {
  if (!(speed.requests_per_s > 0)) return;
  const spec::Question& question = deployment.question;
  const auto gpus = static_cast<double>(question.layout.gpus);
  const double prompts = share_of_prompts(deployment, speed);
  constexpr double million = 1e6;
  const double answered = speed.tokens_per_s > 0 ? million / speed.tokens_per_s : 0;  // seconds for a million tokens
  if (const auto price = price_of(question)) {
    speed.cost.hour = quantity::dollars(gpus * quantity::in_dollars(*price));
    const double second = quantity::in_dollars(*speed.cost.hour) / quantity::seconds_per_hour;
    if (answered > 0) speed.cost.output = quantity::dollars(second * (1 - prompts) * answered);
    if (answered > 0) speed.cost.all = quantity::dollars(second * answered);
    if (speed.prompt_tokens_per_s > 0)
      speed.cost.input = quantity::dollars(second * prompts * million / speed.prompt_tokens_per_s);
    speed.cost.source = question.pricing.price_per_hour ? "--price" : question.gpu->price_source;
  }
  const auto& given = question.electricity;
  const auto power = given.power ? given.power : timing::server_power(*question.gpu);
  if (!power || !(answered > 0)) return;
  speed.cost.energy =
      timing::facility_energy(seconds(answered * gpus), *power, given.pue.value_or(timing::default_pue));
  speed.cost.carbon = *speed.cost.energy * given.carbon_intensity.value_or(spec::world_carbon_intensity);
}

double wider_than_measured(const Deployment& deployment) {
  const auto& question = deployment.question;
  if (!spec::reads_gguf(question.serving.engine)) {
    return timing::ServingKernels(*question.gpu, spec::name_of(question.serving.engine)).is_measured()
               ? 1.0
               : trust::wider_by_generation;
  }
  const bool is_relative = question.gpu->generation.ggml_is_nearest || uses_processor(deployment);
  return is_relative ? trust::ggml_wider_by_generation : 1.0;
}

void add_bars(const Deployment& deployment, const timing::ServingKernels& kernels, Speed& speed) {
  const bool ggml = spec::reads_gguf(deployment.question.serving.engine);
  speed.measured_on = kernels.measured_on();
  speed.is_relative = !ggml && !kernels.is_measured();
  speed.ttft_bar = error_bar(deployment, ggml ? spec::Measure::prefill_tok_s : spec::Measure::ttft);
  speed.tpot_bar = error_bar(deployment, ggml ? spec::Measure::decode_tok_s : spec::Measure::tpot);
}

Speed finished(const Deployment& deployment, const LoadClock& clock, Speed speed) {
  add_throughput(deployment, speed);
  add_cost(deployment, speed);
  add_bars(deployment, clock.kernels(), speed);
  return speed;
}

template <class Value>
bool keeps(const std::optional<Value>& limit, const std::optional<Value>& figure) {
  return !limit || (figure && *figure <= *limit);
}

template <class Value>
bool keeps(const std::optional<Value>& limit, const Value& figure) {
  return keeps(limit, std::optional(figure));
}

bool keeps_costs(const spec::Load& load, const TokenCost& cost) {
  return keeps(load.hour_cost, cost.hour) && keeps(load.token_cost, cost.all);
}

bool keeps_means(const spec::Load& load, const Speed& speed) {
  return !speed.saturated && keeps(load.ttft, speed.ttft) && keeps(load.tpot, speed.tpot);
}

bool limits_tail(const spec::Load& load) { return load.ttft_p95 || load.tpot_p95; }

}  // namespace

trust::Spread error_bar(const Deployment& deployment, spec::Measure measure) {
  const auto bar = trust::server_error_bar(deployment.question, measure);
  if (!spec::is_speed_of_server(measure)) return bar;
  const double wider = wider_than_measured(deployment);
  return {wider * bar.below, wider * bar.above};
}

double compared(const spec::Load& load, const Speed& speed) {
  return spec::reads_only(load) ? speed.prompt_tokens_per_s : speed.tokens_per_s;
}

bool is_limited(const spec::Load& load) {
  return load.ttft || load.tpot || limits_tail(load) || load.hour_cost || load.token_cost;
}

bool keeps_limits(const spec::Load& load, const Speed& speed) {
  if (!keeps_means(load, speed) || !keeps_costs(load, speed.cost)) return false;
  if (!limits_tail(load)) return true;
  return speed.tail && keeps(load.ttft_p95, speed.tail->ttft.p95) && keeps(load.tpot_p95, speed.tail->tpot.p95);
}

std::optional<Speed> speed_of(const Deployment& deployment) {
  if (!deployment.question.gpu) return std::nullopt;
  const LoadClock clock(deployment);
  if (!clock.runs()) return std::nullopt;
  const auto& load = deployment.question.serving.load;
  const auto asked = static_cast<double>(load.concurrency);
  Speed speed = load.trace  ? clock.as_it_comes(rate_of(*load.trace))
                : load.rate ? at_rate(clock, *load.rate)
                            : clock.at(asked);
  if (limits_tail(load) && !speed.tail && !speed.saturated) speed.tail = clock.tail(speed);
  return finished(deployment, clock, std::move(speed));
}

std::vector<Speed> speeds_at(const Deployment& deployment, std::span<const std::int64_t> concurrencies) {
  std::vector<Speed> speeds;
  if (!deployment.question.gpu) return speeds;
  const LoadClock clock(deployment);
  if (!clock.runs()) return speeds;
  const auto& load = deployment.question.serving.load;
  for (const std::int64_t concurrency : concurrencies) {
    Speed speed = clock.at(static_cast<double>(concurrency));
    if (limits_tail(load) && keeps_means(load, speed)) speed.tail = clock.tail(speed);
    speeds.push_back(finished(deployment, clock, std::move(speed)));
  }
  return speeds;
}

}  // namespace llmcalc::serving
