#include "serving/speed.hpp"

#include "llmcalc/spec/question.hpp"
#include "serving/inner/drafting.hpp"
#include "serving/inner/ggml_pace.hpp"
#include "serving/inner/pace.hpp"
#include "serving/inner/step_time.hpp"
#include "serving/inner/tail.hpp"
#include "timing/energy.hpp"
#include "timing/serving_kernels.hpp"
#include "trust/error_bar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::serving {

using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;

namespace {

/// What an engine does with one load, in seconds.
struct Pass {
  double own_prompt = 0;     ///< of a prompt alone
  double shared_prompt = 0;  ///< of each where as many as fit into a step go together
  double step = 0;           ///< that makes one token of every running sequence
  double tokens = 1.0;       ///< that it makes of each, drafts counted
  ServingStepTime parts;
};

/// Requests that run at once on one copy of the attention.
struct Running {
  double asked = 1;
  double admitted = 1;
};

/// Mean of lengths that are drawn evenly from the shortest to the longest.
double mean_length(std::int64_t longest, const spec::Load& load) {
  return static_cast<double>(longest) * (1.0 + load.range_ratio) / 2;
}

class LoadClock {
 public:
  explicit LoadClock(const Deployment& deployment)
      : deployment_(deployment),
        load_(deployment.question.serving.load),
        kernels_(*deployment.question.gpu),
        clock_(deployment, kernels_),
        drafting_(deployment, kernels_),
        turns_(row_of(deployment.question.serving.engine).turns()),
        ggml_(spec::reads_gguf(deployment.question.serving.engine)),
        output_(std::max(mean_length(load_.output, load_), 1.0)) {
    positions_ = mean_length(load_.prompt, load_) + output_ / 2;
    const double kept = positions_ + (deployment.setup.admits_whole ? output_ / 2 : 0.0);
    const auto length = std::max<std::int64_t>(std::llround(kept), 1);
    const RankMemory rank = tightest_rank(deployment, {length, 1});
    room_ = std::min(rank.sequences_in_pool, static_cast<double>(deployment.setup.max_sequences));
    prompt();
  }

  const timing::ServingKernels& kernels() const { return kernels_; }
  double copies() const {
    return static_cast<double>(deployment_.question.layout.dp * deployment_.question.serving.layout.attention_dp);
  }
  bool runs() const { return room_ >= 1.0; }
  /// Requests that run at once over the deployment.
  double seats() const { return room_ * copies(); }

  Speed at(double concurrency) const {
    const double asked = std::max(1.0, concurrency / copies());
    const Running running{asked, std::min(asked, room_)};
    const Pass pass = at_once(running.admitted);
    Speed speed;
    speed.concurrency = concurrency;
    speed.running = std::min(concurrency, running.admitted * copies());
    speed.queued = concurrency - speed.running;
    compose(pass, running, speed);
    return speed;
  }

  /// \param as_it_comes  by the arrivals of the load instead of as many clients as the mean is of
  Tail tail(const Speed& mean, bool as_it_comes) const {
    PriceTable decode([&](double sequences, double positions) { return step_time(sequences, positions).step; });
    PriceTable prompt([&](double tokens, double length) { return prompt_time(tokens, length); });
    SteppedEngine engine = stepped();
    engine.decode = [&](double sequences, double positions) { return decode.at(sequences, positions); };
    engine.prompt = [&](double tokens, double length) { return prompt.at(tokens, length); };
    if (!ggml_) engine.request_s += waited_steps() * in_seconds(mean.decode_step);
    if (as_it_comes) return tail_of_arrivals(engine, load_, std::llround(copies()));
    return tail_of_clients(engine, load_, std::max<std::int64_t>(std::llround(mean.concurrency / copies()), 1), mean);
  }

 private:
  void prompt() {
    if (load_.prompt < 1) return;
    prompt_tokens_ = mean_length(load_.prompt, load_);
    const double length = std::max(prompt_tokens_ - static_cast<double>(load_.shared_prefix), 1.0);
    if (ggml_) {
      own_prompt_ = in_seconds(ggml_times(deployment_, 1, positions_, length).prompt) + drafting_.reading(1, length);
      shared_prompt_ = own_prompt_;
      return;
    }
    const double together = std::max(1.0, std::floor(static_cast<double>(deployment_.setup.batched_tokens) / length));
    own_prompt_ = in_seconds(clock_.prompt(1, length).total()) + drafting_.reading(1, length);
    const double all = in_seconds(clock_.prompt(together, length).total()) + drafting_.reading(together, length);
    shared_prompt_ = all / together;
  }

  /// So many tokens of prompts of such a length, in one step.
  double prompt_time(double tokens, double length) const {
    const double prompts = tokens / length;
    if (ggml_)
      return prompts * in_seconds(ggml_times(deployment_, 1, positions_, length).prompt) +
             drafting_.reading(prompts, length);
    return in_seconds(clock_.prompt(prompts, length).total()) + drafting_.reading(prompts, length);
  }

  Pass step_time(double sequences, double positions) const {
    Pass pass;
    pass.tokens = drafting_.kept();
    if (!ggml_) pass.parts = clock_.decode(sequences, positions, 1.0 + drafting_.proposed());
    const double judged =
        ggml_ ? in_seconds(ggml_times(deployment_, sequences, positions, 1).token) : in_seconds(pass.parts.total());
    pass.step = judged + drafting_.proposing(ggml_ ? nullptr : &clock_, judged, sequences, positions);
    return pass;
  }

  Pass at_once(double sequences) const {
    Pass pass = step_time(sequences, positions_);
    pass.own_prompt = own_prompt_;
    pass.shared_prompt = shared_prompt_;
    return pass;
  }

  /// Shares of the cache that sequences hold lie on a line through those of two lengths.
  SteppedEngine stepped() const {
    SteppedEngine engine;
    const auto& setup = deployment_.setup;
    const auto share_at = [&](std::int64_t length) {
      return 1.0 / tightest_rank(deployment_, {length, 1}).sequences_in_pool;
    };
    const std::int64_t longer = std::max<std::int64_t>(setup.context, 2);
    const std::int64_t shorter = std::max<std::int64_t>(longer / 4, 1);
    engine.position_share = (share_at(longer) - share_at(shorter)) / static_cast<double>(longer - shorter);
    engine.seat_share = std::max(0.0, share_at(longer) - engine.position_share * static_cast<double>(longer));
    engine.tokens = drafting_.kept();
    engine.judged = 1.0 + drafting_.proposed();
    engine.step_tokens = static_cast<double>(setup.batched_tokens);
    engine.sequences = static_cast<double>(setup.max_sequences);
    engine.shared_prefix = static_cast<double>(load_.shared_prefix);
    engine.prompts_alone = turns_.prompts_alone;
    engine.kept_ahead = setup.admits_whole ? 1.0 : 0.0;
    if (ggml_) return engine;
    engine.request_s = 1e-3 * row_of(deployment_.question.serving.engine).pace().first_ms;
    engine.seat_s = 1e-3 * overheads().seat_ms;
    engine.token_s = micro * overheads().token_us;
    return engine;
  }

  /// In a request's cycle of TTFT + output TPOT every other request's prompt is worked on once. Those in front of its
  /// own are part of its TTFT, the others hold its answer up. Those that find no room wait for the ones in front of
  /// them to finish, each as long as it takes to answer one.
  void compose(const Pass& pass, const Running& running, Speed& speed) const {
    const double others = std::max(0.0, running.admitted - 1) * pass.shared_prompt;
    const double in_front = std::min(others, ggml_ ? others / 2 : before(running.admitted, others));
    const double first = first_token(pass, running.admitted) + in_front;
    const double tpot = pass.step / pass.tokens + (others - in_front) / output_;
    const double waiting = (running.asked / running.admitted - 1.0) * (first + output_ * tpot);
    speed.prefill = seconds(pass.own_prompt);
    speed.decode_step = seconds(pass.step);
    speed.tpot = seconds(tpot);
    speed.admission = seconds(waiting);
    speed.ttft = seconds(first + waiting);
    speed.request = seconds(first + waiting + output_ * tpot);
    speed.requests_per_s = speed.concurrency / in_seconds(speed.request);
    speed.parts = parts_of(pass.parts);
  }

  /// What of the others' prompts comes before one's own.
  double before(double admitted, double others) const {
    if (load_.range_ratio < 1.0) return turns_.drawn_wave / 2 * others;
    return turns_.wave / 2 * others + std::min(turns_.companions, admitted - 1) * own_prompt_;
  }

  /// As if no other prompt were in front of it.
  double first_token(const Pass& pass, double admitted) const {
    if (ggml_) return pass.own_prompt + pass.step;
    const Overheads& beside = overheads();
    const double first_ms = row_of(deployment_.question.serving.engine).pace().first_ms;
    const double server = 1e-3 * (first_ms + beside.seat_ms * admitted) + 1e-6 * beside.token_us * prompt_tokens_;
    return server + pass.own_prompt + waited_steps() * pass.step;
  }

  double waited_steps() const { return overheads().waited_steps + deployment_.question.serving.options.wait_steps; }

  static std::vector<SpeedPart> parts_of(const ServingStepTime& time) {
    return {{"matrices", "matrix products", time.matrices},
            {"attention", "attention", time.attention},
            {"experts", "routed experts", time.experts},
            {"exchange", "between ranks", time.exchange},
            {"overhead", "the engine's own", time.overhead}};
  }

  const Deployment& deployment_;
  const spec::Load& load_;
  timing::ServingKernels kernels_;
  StepClock clock_;
  Drafting drafting_;
  const Turns& turns_;
  bool ggml_ = false;
  double output_ = 1;
  double positions_ = 0;
  double room_ = 0;
  double prompt_tokens_ = 0;
  double own_prompt_ = 0;
  double shared_prompt_ = 0;
};

/// A queue that grows as long as requests come has no length to wait for.
void wait_for_ever(Speed& speed) {
  constexpr double never = std::numeric_limits<double>::infinity();
  speed.concurrency = speed.queued = never;
  speed.admission = speed.ttft = speed.request = seconds(never);
}

/// Little's law: as many are in flight as come within the time that one takes, which grows with them.
Speed at_rate(const LoadClock& clock, double rate) {
  double high = clock.seats();
  Speed speed = clock.at(high);
  speed.saturated = speed.requests_per_s < rate;
  if (speed.saturated) {
    wait_for_ever(speed);
    return speed;
  }
  constexpr double close = 1e-4;
  for (double low = 0; high - low > close * high;) {
    const double middle = (low + high) / 2;
    (clock.at(middle).requests_per_s < rate ? low : high) = middle;
  }
  return clock.at(high);
}

/// Of requests that come by chance, and not whenever another has its answer, the means are those of the requests
/// themselves.
void take_means(const spec::Load& load, Speed& speed) {
  speed.ttft = speed.tail->ttft.mean;
  speed.tpot = speed.tail->tpot.mean;
  speed.request = speed.ttft + mean_length(load.output, load) * speed.tpot;
  speed.admission = std::min(speed.admission, speed.ttft);
  if (!load.rate || speed.saturated) return;
  speed.concurrency = *load.rate * in_seconds(speed.request);
  if (!(speed.queued > 0)) speed.running = speed.concurrency;
}

void add_throughput(const Deployment& deployment, Speed& speed) {
  const auto& load = deployment.question.serving.load;
  speed.tokens_per_s = speed.requests_per_s * mean_length(load.output, load);
  speed.prompt_tokens_per_s = speed.requests_per_s * mean_length(load.prompt, load);
  speed.tokens_per_s_per_gpu = speed.tokens_per_s / static_cast<double>(deployment.question.layout.gpus);
  speed.tokens_per_s_per_user = 1.0 / in_seconds(speed.tpot);
}

/// An hour of all accelerators, shared by what prompts and answers take of it.
void add_cost(const spec::Question& question, Speed& speed) {
  if (!(speed.requests_per_s > 0)) return;
  const auto gpus = static_cast<double>(question.layout.gpus);
  const double copies = static_cast<double>(question.layout.dp * question.serving.layout.attention_dp);
  const double prompts = std::min(1.0, speed.requests_per_s * in_seconds(speed.prefill) / copies);
  constexpr double million = 1e6;
  const double answered = million / std::max(speed.tokens_per_s, 1e-9);  // seconds for a million tokens
  const auto price = question.pricing.price_per_hour ? question.pricing.price_per_hour : question.gpu->price_per_hour;
  if (price) {
    const double second = gpus * quantity::in_dollars(*price) / quantity::seconds_per_hour;
    speed.cost.output = quantity::dollars(second * (1 - prompts) * answered);
    speed.cost.all = quantity::dollars(second * answered);
    if (speed.prompt_tokens_per_s > 0)
      speed.cost.input = quantity::dollars(second * prompts * million / speed.prompt_tokens_per_s);
    speed.cost.source = question.pricing.price_per_hour ? "--price" : question.gpu->price_source;
  }
  if (const auto power = timing::server_power(*question.gpu))
    speed.cost.energy = timing::facility_energy(seconds(answered * gpus), *power, timing::default_pue);
}

void add_bars(const spec::Question& question, const timing::ServingKernels& kernels, Speed& speed) {
  const spec::Engine engine = question.serving.engine;
  const bool ggml = spec::reads_gguf(engine);
  speed.measured_on = kernels.measured_on();
  speed.is_relative = !ggml && !kernels.is_measured();
  const bool ggml_relative = ggml && question.gpu->generation.ggml_is_nearest;
  const double wider = ggml_relative       ? trust::ggml_wider_by_generation
                       : speed.is_relative ? trust::wider_by_generation
                                           : 1.0;
  const auto widened = [&](trust::Spread bar) { return trust::Spread{wider * bar.below, wider * bar.above}; };
  speed.ttft_bar = widened(error_bar(engine, ggml ? spec::Measure::prefill_tok_s : spec::Measure::ttft));
  speed.tpot_bar = widened(error_bar(engine, ggml ? spec::Measure::decode_tok_s : spec::Measure::tpot));
}

Speed finished(const Deployment& deployment, const LoadClock& clock, Speed speed) {
  add_throughput(deployment, speed);
  add_cost(deployment.question, speed);
  add_bars(deployment.question, clock.kernels(), speed);
  return speed;
}

using Limit = std::optional<Seconds>;

bool keeps(const Limit& limit, Seconds time) { return !limit || time <= *limit; }

bool keeps_means(const spec::Load& load, const Speed& speed) {
  return !speed.saturated && keeps(load.ttft, speed.ttft) && keeps(load.tpot, speed.tpot);
}

bool limits_tail(const spec::Load& load) { return load.ttft_p95 || load.tpot_p95; }

}  // namespace

bool is_limited(const spec::Load& load) { return load.ttft || load.tpot || limits_tail(load); }

bool keeps_limits(const spec::Load& load, const Speed& speed) {
  if (!keeps_means(load, speed)) return false;
  if (!limits_tail(load)) return true;
  return speed.tail && keeps(load.ttft_p95, speed.tail->ttft.p95) && keeps(load.tpot_p95, speed.tail->tpot.p95);
}

std::optional<Speed> speed_of(const Deployment& deployment) {
  if (!deployment.question.gpu) return std::nullopt;
  const LoadClock clock(deployment);
  if (!clock.runs()) return std::nullopt;
  const auto& load = deployment.question.serving.load;
  Speed speed = load.rate ? at_rate(clock, *load.rate) : clock.at(static_cast<double>(load.concurrency));
  const bool as_it_comes = load.rate || load.trace;
  const bool ends = load.trace || !speed.saturated;
  if (ends && (as_it_comes || limits_tail(load))) speed.tail = clock.tail(speed, as_it_comes);
  if (speed.tail && as_it_comes) take_means(load, speed);
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
    if (limits_tail(load) && keeps_means(load, speed)) speed.tail = clock.tail(speed, false);
    speeds.push_back(finished(deployment, clock, std::move(speed)));
  }
  return speeds;
}

}  // namespace llmcalc::serving
