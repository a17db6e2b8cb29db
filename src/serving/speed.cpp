#include "llmcalc/serving/speed.hpp"

#include "llmcalc/spec/question.hpp"
#include "llmcalc/timing/energy.hpp"
#include "llmcalc/timing/serving_kernels.hpp"
#include "llmcalc/trust/server_error_bar.hpp"
#include "serving/ggml_pace.hpp"
#include "serving/step_time.hpp"

#include <algorithm>
#include <cmath>

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
  StepTime parts;
};

/// Requests that run at once on one copy of the attention.
struct Running {
  double asked = 1;
  double admitted = 1;
};

/// Sum of the powers of the share of drafts that are accepted: the token of the model itself, and each proposed one
/// whose predecessors were right (Leviathan et al. 2023, arXiv:2211.17192 equation 1).
double tokens_a_step(const spec::EngineOptions& options) {
  if (options.draft.kind == spec::DraftKind::none) return 1.0;
  double sum = 1.0;
  double share = 1.0;
  for (std::int64_t i = 0; i < options.draft.tokens; ++i) sum += share *= options.accept;
  return sum;
}

class LoadClock {
 public:
  explicit LoadClock(const Deployment& deployment)
      : deployment_(deployment),
        load_(deployment.question.serving.load),
        kernels_(*deployment.question.gpu),
        clock_(deployment, kernels_),
        pace_(pace_of(deployment.question.serving.engine)),
        ggml_(spec::reads_gguf(deployment.question.serving.engine)) {
    const auto output = static_cast<double>(std::max<std::int64_t>(load_.output, 1));
    positions_ = static_cast<double>(load_.prompt) + output / 2;
    const auto length = std::max<std::int64_t>(std::llround(positions_), 1);
    const RankMemory rank = tightest_rank(deployment, {length, 1});
    room_ = std::min(rank.sequences_in_pool, static_cast<double>(deployment.setup.max_sequences));
    prompt();
  }

  const timing::ServingKernels& kernels() const { return kernels_; }
  double copies() const {
    return static_cast<double>(deployment_.question.layout.dp * deployment_.question.serving.layout.attention_dp);
  }
  bool runs() const { return room_ >= 1.0; }

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

 private:
  void prompt() {
    const auto length = static_cast<double>(load_.prompt - std::min(load_.shared_prefix, load_.prompt - 1));
    if (length < 1) return;
    prompt_tokens_ = static_cast<double>(load_.prompt);
    if (ggml_) {
      own_prompt_ = shared_prompt_ = in_seconds(ggml_times(deployment_, 1, positions_, length).prompt);
      return;
    }
    const double together = std::max(1.0, std::floor(static_cast<double>(deployment_.setup.batched_tokens) / length));
    const double slower = sustained(*deployment_.question.gpu);
    own_prompt_ = slower * in_seconds(clock_.prompt(1, length).total());
    shared_prompt_ = slower * in_seconds(clock_.prompt(together, length).total()) / together;
  }

  Pass at_once(double sequences) const {
    Pass pass;
    pass.own_prompt = own_prompt_;
    pass.shared_prompt = shared_prompt_;
    pass.tokens = tokens_a_step(deployment_.question.serving.options);
    if (ggml_) {
      pass.step = in_seconds(ggml_times(deployment_, sequences, positions_, 1).token);
      return pass;
    }
    const auto& options = deployment_.question.serving.options;
    const auto drafted = options.draft.kind == spec::DraftKind::none ? 0.0 : static_cast<double>(options.draft.tokens);
    pass.parts = clock_.decode(sequences, positions_, 1.0 + drafted);
    // Each proposal passes a layer of its own (MTP and EAGLE have one).
    const auto layers = static_cast<double>(deployment_.question.model.layer_count());
    pass.step = in_seconds(pass.parts.total()) * (1.0 + drafted / layers);
    return pass;
  }

  /// In a request's cycle of TTFT + output TPOT every other request's prompt is worked on once. Those in front of its
  /// own are part of its TTFT, the others hold its answer up. Those that find no room wait for the ones in front of
  /// them to finish, each as long as it takes to answer one.
  void compose(const Pass& pass, const Running& running, Speed& speed) const {
    const auto output = static_cast<double>(std::max<std::int64_t>(load_.output, 1));
    const double others = std::max(0.0, running.admitted - 1) * pass.shared_prompt;
    const double in_front = (ggml_ ? 1.0 : pace_.wave) / 2 * others;
    const double first = first_token(pass, running.admitted) + in_front;
    const double tpot = pass.step / pass.tokens + (others - in_front) / output;
    const double waiting = (running.asked / running.admitted - 1.0) * (first + output * tpot);
    speed.prefill = seconds(pass.own_prompt);
    speed.decode_step = seconds(pass.step);
    speed.tpot = seconds(tpot);
    speed.admission = seconds(waiting);
    speed.ttft = seconds(first + waiting);
    speed.request = seconds(first + waiting + output * tpot);
    speed.requests_per_s = speed.concurrency / in_seconds(speed.request);
    speed.parts = parts_of(pass.parts);
  }

  /// As if no other prompt were in front of it.
  double first_token(const Pass& pass, double admitted) const {
    if (ggml_) return pass.own_prompt + pass.step;
    const double server = 1e-3 * (pace_.first + pace_.seat * admitted) + 1e-6 * pace_.token * prompt_tokens_;
    return server + pace_.prompt * pass.own_prompt + pace_.steps * pass.step;
  }

  static std::vector<SpeedPart> parts_of(const StepTime& time) {
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
  const Pace& pace_;
  bool ggml_ = false;
  double positions_ = 0;
  double room_ = 0;
  double prompt_tokens_ = 0;
  double own_prompt_ = 0;
  double shared_prompt_ = 0;
};

/// Little's law: requests in flight are their rate times what one takes, which grows with them.
Speed at_rate(const LoadClock& clock, double rate) {
  constexpr int most = 40;
  constexpr double limit = 1e5;
  double concurrency = 1.0;
  Speed speed = clock.at(concurrency);
  for (int i = 0; i < most; ++i) {
    const double next = std::min(limit, std::max(1.0, rate * in_seconds(speed.request)));
    if (std::abs(next - concurrency) < 1e-3 * concurrency) break;
    concurrency = (concurrency + next) / 2;
    speed = clock.at(concurrency);
  }
  speed.saturated = speed.requests_per_s < 0.9 * rate && rate * in_seconds(speed.request) > 1.0;
  return speed;
}

void add_throughput(const Deployment& deployment, Speed& speed) {
  const auto& load = deployment.question.serving.load;
  speed.tokens_per_s = speed.requests_per_s * static_cast<double>(load.output);
  speed.prompt_tokens_per_s = speed.requests_per_s * static_cast<double>(load.prompt);
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
  // A relative's shares of the data sheet: half again as far off, about as far as parts of one generation differ.
  const double wider = speed.is_relative ? 1.5 : 1.0;
  const auto widened = [&](trust::Spread bar) { return trust::Spread{wider * bar.below, wider * bar.above}; };
  speed.ttft_bar = widened(trust::server_error_bar(engine, ggml ? spec::Measure::prefill_tok_s : spec::Measure::ttft));
  speed.tpot_bar = widened(trust::server_error_bar(engine, ggml ? spec::Measure::decode_tok_s : spec::Measure::tpot));
}

Speed finished(const Deployment& deployment, const LoadClock& clock, Speed speed) {
  add_throughput(deployment, speed);
  add_cost(deployment.question, speed);
  add_bars(deployment.question, clock.kernels(), speed);
  return speed;
}

}  // namespace

std::optional<Speed> speed_of(const Deployment& deployment) {
  if (!deployment.question.gpu) return std::nullopt;
  const LoadClock clock(deployment);
  if (!clock.runs()) return std::nullopt;
  const auto& load = deployment.question.serving.load;
  return finished(deployment, clock,
                  load.rate ? at_rate(clock, *load.rate) : clock.at(static_cast<double>(load.concurrency)));
}

std::vector<Speed> speeds_at(const Deployment& deployment, std::span<const std::int64_t> concurrencies) {
  std::vector<Speed> speeds;
  if (!deployment.question.gpu) return speeds;
  const LoadClock clock(deployment);
  if (!clock.runs()) return speeds;
  for (const std::int64_t concurrency : concurrencies)
    speeds.push_back(finished(deployment, clock, clock.at(static_cast<double>(concurrency))));
  return speeds;
}

}  // namespace llmcalc::serving
