#include "serving/inner/load_clock.hpp"

#include "llmcalc/spec/question.hpp"
#include "serving/inner/ggml_pace.hpp"
#include "serving/inner/pace.hpp"
#include "serving/inner/tail.hpp"
#include "timing/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::serving {

using quantity::in_seconds;
using quantity::seconds;
using spec::ServerRole;

double mean_length(std::int64_t longest, const spec::Load& load) {
  return static_cast<double>(longest) * (1.0 + load.range_ratio) / 2;
}

namespace {

ServerRole role_of(const Deployment& deployment) { return deployment.question.serving.role; }

std::vector<SpeedPart> parts_of(const ServingStepTime& time) {
  return {{"matrices", "matrix products", time.matrices},
          {"attention", "attention", time.attention},
          {"experts", "routed experts", time.experts},
          {"exchange", "between ranks", time.exchange},
          {"overhead", "the engine's own", time.overhead}};
}

/// A cache on its way between two servers, each rank's part by itself: whole blocks of all layers (vLLM
/// distributed/kv_transfer/kv_connector/v1/nixl/pull_worker.py, _read_blocks; SGLang srt/disaggregation/prefill.py,
/// send_kv_chunk), of which the fewer ranks of both have the larger parts. Servers stand on machines of their own where
/// there are several, all of whose accelerators may send at once.
double sending(const Deployment& writers, std::int64_t prompt) {
  const auto& question = writers.question;
  const Demand demand{std::max<std::int64_t>(prompt, 1), 1};
  const auto bytes = std::max(tightest_rank(writers, demand).needed, tightest_rank(*writers.prefill, demand).needed);
  spec::Layout layout = question.layout;
  layout.tp = std::max(layout.tp, writers.prefill->question.layout.tp);
  layout.pp = 2;
  layout.dp = std::max<std::int64_t>(1, layout.gpus / (layout.tp * layout.pp));
  layout.ep = layout.etp = 1;
  return in_seconds(timing::Network(*question.gpu, layout).to_next_stage(bytes));
}

/// Where parts are sent as they are read only the last is waited for, unless they come faster than they go.
double waited_for(double sent, double read, double last_share, const Handover& handover) {
  if (!handover.by_chunks) return sent;
  return std::max(last_share * sent, sent - (1.0 - last_share) * read);
}

double last_chunk(double prompt, std::int64_t chunk) {
  const auto whole = static_cast<double>(chunk);
  const double rest = std::fmod(prompt, whole);
  return prompt <= whole ? 1.0 : (rest > 0 ? rest : whole) / prompt;
}

}  // namespace

LoadClock::LoadClock(const Deployment& deployment)
    : deployment_(deployment),
      load_(deployment.question.serving.load),
      kernels_(*deployment.question.gpu),
      clock_(deployment, kernels_),
      drafting_(deployment, kernels_),
      turns_(row_of(deployment.question.serving.engine).turns()),
      ggml_(spec::reads_gguf(deployment.question.serving.engine)),
      output_(std::max(mean_length(load_.output, load_), 1.0)),
      prompt_tokens_(mean_length(load_.prompt, load_)) {
  positions_ = prompt_tokens_ + output_ / 2;
  const double kept = positions_ + (deployment.setup.admits_whole ? output_ / 2 : 0.0);
  const auto length = std::max<std::int64_t>(std::llround(kept), 1);
  const RankMemory rank = tightest_rank(deployment, {length, 1});
  room_ = std::min(rank.sequences_in_pool, static_cast<double>(deployment.setup.max_sequences));
  if (load_.prompt > 0 && role_of(deployment) != ServerRole::decode) prompt();
  if (!deployment.prefill) return;
  readers_ = std::make_unique<LoadClock>(*deployment.prefill);
  const Handover& handover = row_of(deployment.question.serving.engine).handover;
  const double last = last_chunk(prompt_tokens_, deployment.prefill->setup.batched_tokens);
  sent_ = waited_for(sending(deployment, std::llround(prompt_tokens_)), readers_->own_prompt_, last, handover);
}

double LoadClock::copies() const {
  return static_cast<double>(deployment_.question.layout.dp * deployment_.question.serving.layout.attention_dp);
}

Speed LoadClock::running(double concurrency) const {
  const double asked = std::max(1.0, concurrency / copies());
  const Running running{asked, std::min(asked, room_)};
  const Pass pass = at_once(running.admitted);
  Speed speed;
  speed.concurrency = concurrency;
  speed.running = std::min(concurrency, running.admitted * copies());
  speed.queued = concurrency - speed.running;
  compose(pass, running, speed);
  if (readers_) read_first(speed);
  return speed;
}

/// Others are in the hands of the servers that read prompts, or on their way from there: as many as Little's law says.
Speed LoadClock::at(double concurrency) const {
  if (!readers_) return running(concurrency);
  double low = 0;
  double high = seats();
  const bool all_run = running(high).concurrency <= concurrency;
  constexpr double close = 1e-5;
  while (!all_run && high - low > close * high) {
    const double middle = (low + high) / 2;
    (running(middle).concurrency < concurrency ? low : high) = middle;
  }
  Speed speed = running(all_run ? high : low);
  const auto wait = std::max(seconds(concurrency / speed.requests_per_s) - speed.request, seconds(0));
  if (all_run) speed.queued = concurrency - speed.concurrency;
  if (all_run) speed.admission = wait;
  speed.concurrency = concurrency;
  speed.ttft += wait;
  speed.request += wait;
  return speed;
}

Tail LoadClock::tail(const Speed& mean, bool as_it_comes) const {
  const SteppedEngine engine = stepped(mean);
  const auto here = std::llround(copies());
  if (readers_) {
    const Servers readers{readers_->stepped(mean), std::llround(readers_->copies())};
    return tail_of_both(readers, {engine, here}, {load_, sent_ / std::max(prompt_tokens_, 1.0)}, mean, as_it_comes);
  }
  if (as_it_comes) return tail_of_arrivals(engine, load_, here);
  return tail_of_clients(engine, load_, std::max<std::int64_t>(std::llround(mean.concurrency / copies()), 1), mean);
}

void LoadClock::prompt() {
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
double LoadClock::prompt_time(double tokens, double length) const {
  const double prompts = tokens / length;
  if (ggml_)
    return prompts * in_seconds(ggml_times(deployment_, 1, positions_, length).prompt) +
           drafting_.reading(prompts, length);
  return in_seconds(clock_.prompt(prompts, length).total()) + drafting_.reading(prompts, length);
}

LoadClock::Pass LoadClock::step_time(double sequences, double positions) const {
  Pass pass;
  pass.tokens = drafting_.kept();
  if (!ggml_) pass.parts = clock_.decode(sequences, positions, 1.0 + drafting_.proposed());
  const double judged =
      ggml_ ? in_seconds(ggml_times(deployment_, sequences, positions, 1).token) : in_seconds(pass.parts.total());
  pass.step = judged + drafting_.proposing(ggml_ ? nullptr : &clock_, judged, sequences, positions);
  return pass;
}

LoadClock::Pass LoadClock::at_once(double sequences) const {
  Pass pass = step_time(sequences, positions_);
  pass.own_prompt = own_prompt_;
  pass.shared_prompt = shared_prompt_;
  return pass;
}

/// Shares of the cache that sequences hold lie on a line through those of two lengths.
SteppedEngine LoadClock::stepped(const Speed& mean) const {
  SteppedEngine engine;
  const auto decode = std::make_shared<PriceTable>(
      [this](double sequences, double positions) { return step_time(sequences, positions).step; });
  const auto prompt =
      std::make_shared<PriceTable>([this](double tokens, double length) { return prompt_time(tokens, length); });
  engine.decode = [decode](double sequences, double positions) { return decode->at(sequences, positions); };
  engine.prompt = [prompt](double tokens, double length) { return prompt->at(tokens, length); };
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
  engine.comes_read = role_of(deployment_) == ServerRole::decode;
  engine.kept_ahead = setup.admits_whole ? 1.0 : 0.0;
  if (ggml_) return engine;
  const double steps = engine.comes_read ? deployment_.question.serving.options.wait_steps : waited_steps();
  engine.request_s = server_time(0, 0) + steps * in_seconds(mean.decode_step);
  engine.seat_s = 1e-3 * overheads().seat_ms;
  engine.token_s = server_time(0, 1) - server_time(0, 0);
  return engine;
}

/// In a request's cycle of TTFT + output TPOT every other request's prompt is worked on once. Those in front of its
/// own are part of its TTFT, the others hold its answer up. Those that find no room wait for the ones in front of
/// them to finish, each as long as it takes to answer one.
void LoadClock::compose(const Pass& pass, const Running& running, Speed& speed) const {
  const bool reads_alone = role_of(deployment_) == ServerRole::prefill;
  const double others = std::max(0.0, running.admitted - 1) * pass.shared_prompt;
  const double in_front =
      reads_alone ? others : std::min(others, ggml_ ? others / 2 : before(running.admitted, others));
  const double first = first_token(pass, running.admitted) + in_front;
  const double tpot = reads_alone ? 0.0 : pass.step / pass.tokens + (others - in_front) / output_;
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

/// Prompts come at random to servers that each take as long for every one: the mean wait is that of Pollaczek (1930)
/// and Khinchine (1932), rho s / 2 (1 - rho), where s is the time of a prompt and rho the share of time that it fills.
void LoadClock::read_first(Speed& speed) const {
  const double most = readers_->copies() / readers_->shared_prompt_;
  const double busy = speed.requests_per_s / most;
  const double alone = readers_->server_time(1, readers_->prompt_tokens_) + readers_->own_prompt_;
  const bool endless = busy >= 1.0;
  const double wait =
      endless ? std::numeric_limits<double>::infinity() : busy * readers_->shared_prompt_ / (2.0 * (1.0 - busy));
  speed.requests_per_s = std::min(speed.requests_per_s, most);
  speed.prefill = seconds(readers_->own_prompt_);
  speed.handover = seconds(sent_);
  speed.ttft += seconds(alone + wait + sent_);
  speed.request += seconds(alone + wait + sent_);
  speed.concurrency = speed.requests_per_s * in_seconds(speed.request);
}

/// What of the others' prompts comes before one's own.
double LoadClock::before(double admitted, double others) const {
  if (load_.range_ratio < 1.0) return turns_.drawn_wave / 2 * others;
  return turns_.wave / 2 * others + std::min(turns_.companions, admitted - 1) * own_prompt_;
}

/// As if no other prompt were in front of it.
double LoadClock::first_token(const Pass& pass, double admitted) const {
  if (ggml_) return pass.own_prompt + pass.step;
  return server_time(admitted, prompt_tokens_) + pass.own_prompt + waited_steps() * pass.step;
}

/// What the server takes beside its accelerators, with so many requests in flight; nothing of one that it knew of while
/// another read it.
double LoadClock::server_time(double admitted, double prompt) const {
  const EngineRow& row = row_of(deployment_.question.serving.engine);
  if (role_of(deployment_) == ServerRole::decode && row.handover.by_chunks) return 0.0;
  const Overheads& beside = overheads();
  return 1e-3 * (row.pace().first_ms + beside.seat_ms * admitted) + micro * beside.token_us * prompt;
}

/// Of a cache that comes from elsewhere, half of the step at work in the mean, and one of its own unless the first
/// token comes with it.
double LoadClock::waited_steps() const {
  const double asked = deployment_.question.serving.options.wait_steps;
  switch (role_of(deployment_)) {
    case ServerRole::both: return overheads().waited_steps + asked;
    case ServerRole::prefill: return 0.0;
    case ServerRole::decode: break;
  }
  return (row_of(deployment_.question.serving.engine).handover.has_first ? 0.5 : 1.5) + asked;
}

}  // namespace llmcalc::serving
