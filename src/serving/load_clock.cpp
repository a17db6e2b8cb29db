#include "serving/inner/load_clock.hpp"

#include "serving/inner/pace.hpp"
#include "spec/load.hpp"
#include "spec/names.hpp"
#include "timing/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace llmcalc::serving {

using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;
using spec::ServerRole;

Drafting::Drafting(const Deployment& deployment, const timing::ServingKernels& kernels) : deployment_(deployment) {
  const spec::Draft& draft = deployment.question.serving.options.draft;
  if (draft.kind != spec::DraftKind::none) proposed_ = static_cast<double>(draft.tokens);
  const bool on_torch = !spec::reads_gguf(deployment.question.serving.engine);
  if (deployment.draft && on_torch) model_.emplace(*deployment.draft, kernels);
}

double Drafting::kept() const {
  double sum = 1.0;
  double share = 1.0;
  for (double i = 0; i < proposed_; ++i) sum += share *= deployment_.question.serving.options.accept;
  return sum;
}

double Drafting::proposing(const StepClock* own, double judged, double sequences, double positions) const {
  if (proposed_ == 0) return 0.0;
  if (model_) return proposed_ * in_seconds(model_->decode(sequences, positions, 1.0).total());
  if (deployment_.draft) return proposed_ * in_seconds(ggml_times(*deployment_.draft, sequences, positions, 1).token);
  if (own != nullptr) return proposed_ * in_seconds(own->propose(sequences, positions).total());
  return judged * proposed_ / static_cast<double>(deployment_.question.model.layer_count());
}

double Drafting::reading(double sequences, double positions) const {
  if (model_) return in_seconds(model_->prompt(sequences, positions).total());
  return deployment_.draft ? in_seconds(ggml_times(*deployment_.draft, sequences, positions, positions).prompt) : 0.0;
}

double mean_length(std::int64_t longest, const spec::Load& load) {
  const double mean = static_cast<double>(longest) * (1.0 + load.range_ratio.value_or(1.0)) / 2;
  return std::max(mean, longest > 0 ? 1.0 : 0.0);  // no text is shorter than a token
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
      kernels_(*deployment.question.gpu, spec::name_of(deployment.question.serving.engine)),
      clock_(deployment, kernels_),
      drafting_(deployment, kernels_),
      ggml_(spec::reads_gguf(deployment.question.serving.engine)),
      output_(std::max(mean_length(load_.output, load_), 1.0)),
      prompt_tokens_(mean_length(load_.prompt, load_)) {
  positions_ = prompt_tokens_ + output_ / 2;
  const double kept = positions_ + (deployment.setup.admits_whole ? output_ / 2 : 0.0);
  const auto length = std::max<std::int64_t>(std::llround(kept), 1);
  const RankMemory rank = tightest_rank(deployment, {length, 1});
  room_ = std::min(sequences_in(rank, length), static_cast<double>(deployment.setup.max_sequences));
  if (load_.prompt > 0 && role_of(deployment) != ServerRole::decode) prompt();
  prepare_steps();
  if (!deployment.prefill) return;
  readers_ = std::make_unique<LoadClock>(*deployment.prefill);
  const Handover& handover = row_of(deployment.question.serving.engine).handover;
  const double last = last_chunk(prompt_tokens_, deployment.prefill->setup.batched_tokens);
  sent_ = waited_for(sending(deployment, std::llround(prompt_tokens_)), readers_->own_prompt_, last, handover);
}

/// Sequences that the pool holds: each but the first only what it has not in common with the others, of its prompt.
double LoadClock::sequences_in(const RankMemory& rank, std::int64_t length) const {
  const double alone = rank.sequences_in_pool;
  if (ggml_ || load_.shared_prefix == 0 || alone < 1.0) return alone;
  const double one = rank.pool / quantity::bytes(1) / alone;
  const double further = (tightest_rank(deployment_, {length, 2}).needed - rank.needed) / quantity::bytes(1);
  const auto common = static_cast<double>(std::min(load_.shared_prefix, length));
  const double spared = (one - further) * std::min(common, prompt_tokens_) / common;
  const double all = 1.0 + (alone - 1.0) * one / std::max(one - spared, 1.0);
  return rank.seats ? std::min(all, static_cast<double>(*rank.seats)) : all;
}

double LoadClock::copies() const {
  return static_cast<double>(deployment_.question.layout.dp * deployment_.question.serving.layout.attention_dp);
}

std::int64_t LoadClock::clients(double concurrency) const {
  return std::max<std::int64_t>(std::llround(concurrency / copies()), 1);
}

/// Others are in the hands of the servers that read prompts, or on their way from there: as many as Little's law says.
Speed LoadClock::at(double concurrency) const {
  if (!readers_) return in_loop(concurrency);
  double low = 0;
  double high = seats();
  const bool all_run = writing(high).concurrency <= concurrency;
  constexpr double close = 1e-5;
  while (!all_run && high - low > close * high) {
    const double middle = (low + high) / 2;
    (writing(middle).concurrency < concurrency ? low : high) = middle;
  }
  Speed speed = writing(all_run ? high : low);
  const auto wait = std::max(seconds(concurrency / speed.requests_per_s) - speed.request, seconds(0));
  if (all_run) speed.queued = concurrency - speed.concurrency;
  if (all_run) speed.admission = wait;
  speed.concurrency = concurrency;
  speed.ttft += wait;
  speed.request += wait;
  return speed;
}

/// Each of so many clients sends its next request when it has its answer: what requests take is what those take that go
/// through the scheduler one by one. Clients beyond twice as many as have a seat only make the queue longer, which
/// Little's law says.
Speed LoadClock::in_loop(double concurrency) const {
  Speed speed;
  speed.concurrency = concurrency;
  speed.running = std::min(concurrency, seats());
  speed.queued = concurrency - speed.running;
  take_step(std::min(std::max(1.0, concurrency / copies()), room_), speed);
  const bool ends = load_.prompts.has_value();
  const double simulated = ends ? concurrency : std::min(concurrency, 2 * seats());
  const LoopTimes times = loop_times(engine_, load_, clients(simulated), copies());
  const bool writes = !engine_.reads_only;
  const double alone = in_seconds(speed.decode_step) / drafting_.kept();
  const double later = writes ? times.later.value_or(alone) : 0.0;
  const double request = times.first + output_ * later;
  const auto sent = static_cast<double>(times.requests) * copies();
  speed.requests_per_s = ends ? sent / times.whole : simulated / request;
  speed.request = seconds(ends ? request : concurrency / speed.requests_per_s);
  const Seconds behind = speed.request - seconds(request);
  speed.ttft = seconds(times.first) + behind;
  speed.tpot = seconds(later);
  if (speed.queued > 0) speed.admission = seconds(times.waited) + behind;
  return speed;
}

/// Means of requests that come by chance are those of the requests themselves, and as many are in flight as come
/// within the time that one takes (Little's law). Those beyond the seats wait as long as that law says of them.
Speed LoadClock::as_it_comes(double rate) const {
  Speed speed;
  speed.requests_per_s = rate;
  speed.tail = tail_of_rate(speed, true);
  speed.ttft = speed.tail->ttft.mean;
  speed.tpot = speed.tail->tpot.mean;
  speed.request = speed.ttft + output_ * speed.tpot;
  speed.concurrency = rate * in_seconds(speed.request);
  const double writing = rate * output_ * in_seconds(speed.tpot);
  speed.running = std::min(readers_ ? writing : speed.concurrency, seats());
  if (!readers_) speed.queued = speed.concurrency - speed.running;
  speed.admission = seconds(speed.queued / rate);
  take_step(std::clamp(writing / copies(), 1.0, std::max(room_, 1.0)), speed);
  return speed;
}

Tail LoadClock::tail(const Speed& mean) const {
  return readers_ ? tail_of_rate(mean, false)
                  : tail_of_clients(engine_, load_, clients(mean.concurrency), copies(), mean);
}

Tail LoadClock::tail_of_rate(const Speed& mean, bool as_it_comes) const {
  const auto here = std::llround(copies());
  if (!readers_) return tail_of_arrivals(engine_, load_, here);
  const Servers readers{readers_->engine_, std::llround(readers_->copies())};
  return tail_of_both(readers, {engine_, here}, {load_, sent_ / std::max(prompt_tokens_, 1.0)}, mean, as_it_comes);
}

void LoadClock::prompt() {
  const double length = std::max(prompt_tokens_ - static_cast<double>(load_.shared_prefix), 1.0);
  if (ggml_) {
    own_prompt_ = ggml_prompt(length);
    shared_prompt_ = own_prompt_;
    return;
  }
  const double together = std::max(1.0, std::floor(static_cast<double>(deployment_.setup.batched_tokens) / length));
  const auto pass = [&](double prompts) {
    const bool replays = prompts * length <= clock_.replayed();
    const double launched = replays ? 0.0 : in_seconds(clock_.launching_prompts());
    return std::max(prompt_time(prompts * length, length), launched);
  };
  const auto stages = static_cast<double>(deployment_.question.layout.pp);
  const double chunks = std::ceil(length / static_cast<double>(deployment_.setup.batched_tokens));
  own_prompt_ = pass(1) * (chunks + stages - 1) / (chunks * stages);  // a stage has the next chunk while one goes on
  shared_prompt_ = pass(together) / together / stages;
}

/// A whole prompt under llama.cpp, which a proposing model reads as well.
double LoadClock::ggml_prompt(double length) const {
  return in_seconds(ggml_times(deployment_, 1, positions_, length).prompt) + drafting_.reading(1, length);
}

/// Kernels of so many tokens of prompts of such a length, in one step.
double LoadClock::prompt_time(double tokens, double length) const {
  const double prompts = tokens / length;
  return in_seconds(clock_.prompt(prompts, length).total()) + drafting_.reading(prompts, length);
}

LoadClock::Step LoadClock::step_time(double sequences, double positions) const {
  Step step;
  step.tokens = drafting_.kept();
  if (!ggml_) step.parts = clock_.decode(sequences, positions, 1.0 + drafting_.proposed());
  const double judged =
      ggml_ ? in_seconds(ggml_times(deployment_, sequences, positions, 1).token) : in_seconds(step.parts.total());
  step.time = judged + drafting_.proposing(ggml_ ? nullptr : &clock_, judged, sequences, positions);
  return step;
}

/// Parts of the time of an input where nothing is written.
void LoadClock::take_pass(Speed& speed) const {
  if (ggml_) return;
  const ServingStepTime time = clock_.prompt(1, std::max(prompt_tokens_, 1.0));
  speed.decode_step = time.total();
  speed.parts = parts_of(time);
}

/// Speed of the step itself, with so many sequences on each copy.
void LoadClock::take_step(double sequences, Speed& speed) const {
  const Step step = step_time(sequences, positions_);
  speed.prefill = seconds(readers_ ? readers_->own_prompt_ : own_prompt_);
  speed.handover = seconds(sent_);
  if (spec::reads_only(load_)) return take_pass(speed);
  speed.decode_step = seconds(step.time);
  speed.parts = parts_of(step.parts);
}

/// Prompts of llama.cpp have a price each: whole chunks are no line that could be interpolated.
std::function<double(double, double)> LoadClock::prompt_prices() const {
  if (ggml_) {
    return [this, known = std::map<std::int64_t, double>()](double tokens, double length) mutable {
      const auto [at, is_new] = known.try_emplace(std::llround(length));
      if (is_new) at->second = ggml_prompt(static_cast<double>(at->first));
      return tokens / length * at->second;
    };
  }
  const auto table =
      std::make_shared<PriceTable>([this](double tokens, double length) { return prompt_time(tokens, length); });
  return [table](double tokens, double length) { return table->at(tokens, length); };
}

/// Shares of the cache that sequences hold lie on a line through those of two lengths: of a whole request and a quarter
/// of one, as windows bend it further on.
void LoadClock::prepare_steps() {
  const auto decode = std::make_shared<PriceTable>(
      [this](double sequences, double positions) { return step_time(sequences, positions).time; });
  engine_.decode = [decode](double sequences, double positions) { return decode->at(sequences, positions); };
  engine_.prompt = prompt_prices();
  const auto& setup = deployment_.setup;
  const auto share_at = [&](std::int64_t length) {
    return 1.0 / tightest_rank(deployment_, {length, 1}).sequences_in_pool;
  };
  const std::int64_t longer = std::max<std::int64_t>(std::llround(prompt_tokens_ + output_), 2);
  const std::int64_t shorter = std::max<std::int64_t>(longer / 4, 1);
  engine_.position_share = (share_at(longer) - share_at(shorter)) / static_cast<double>(longer - shorter);
  engine_.seat_share = std::max(0.0, share_at(longer) - engine_.position_share * static_cast<double>(longer));
  engine_.tokens = drafting_.kept();
  engine_.judged = 1.0 + drafting_.proposed();
  engine_.step_tokens = static_cast<double>(setup.batched_tokens);
  engine_.sequences = static_cast<double>(setup.max_sequences);
  engine_.shared_prefix = static_cast<double>(load_.shared_prefix);
  engine_.prompts_alone = row_of(deployment_.question.serving.engine).prompts_alone;
  engine_.ahead = setup.ahead;
  engine_.comes_read = role_of(deployment_) == ServerRole::decode;
  engine_.reads_only = role_of(deployment_) == ServerRole::prefill || spec::reads_only(load_);
  engine_.whole_prompts = setup.reads_whole;
  engine_.kept_ahead = setup.admits_whole ? 1.0 : 0.0;
  if (ggml_) return;
  const auto met = std::make_shared<PriceTable>([this](double tokens, double length) {
    const ServingStepTime time = clock_.prompt(tokens / length, length);
    return in_seconds(time.experts + time.exchange);
  });
  engine_.met = [met](double tokens, double length) { return met->at(tokens, length); };
  if (deployment_.question.model.shape.moe.experts > 0)
    engine_.together = static_cast<std::size_t>(deployment_.question.serving.layout.attention_dp);
  engine_.stages = static_cast<double>(deployment_.question.layout.pp);
  engine_.launch_s = in_seconds(clock_.launching_prompts()) / engine_.stages;
  engine_.replayed = clock_.replayed();
  const double waited = deployment_.question.serving.options.wait_steps;
  engine_.gathers = engine_.together > 1 && waited > 0 && !engine_.prompts_alone;
  engine_.poll_steps = engine_.prompts_alone ? 2 * waited + 1 : engine_.gathers ? waited : 1;
  engine_.wait_steps = engine_.prompts_alone || engine_.gathers ? 0 : waited;
  engine_.request_s = server_time(0, 0);
  engine_.seat_s = seat_time();
  engine_.front_s = micro * setup.front_us;
  engine_.front_token_s = micro * setup.front_token_us;
  engine_.token_s = server_time(0, 1) - server_time(0, 0);
}

/// Servers whose prompts others read: no prompt stands between two tokens. Of a cache that comes, half of the step
/// at work is waited for in the mean, and one of its own unless the first token comes with it. Those that find no room
/// wait for the ones in front of them to finish, each as long as it takes to answer one.
Speed LoadClock::writing(double concurrency) const {
  const double asked = std::max(1.0, concurrency / copies());
  const double admitted = std::min(asked, room_);
  const bool has_first = row_of(deployment_.question.serving.engine).handover.has_first;
  Speed speed;
  speed.concurrency = concurrency;
  speed.running = std::min(concurrency, admitted * copies());
  speed.queued = concurrency - speed.running;
  take_step(admitted, speed);
  const double waited = (has_first ? 0.5 : 1.5) + deployment_.question.serving.options.wait_steps;
  const Seconds first = seconds(server_time(admitted, prompt_tokens_)) + waited * speed.decode_step;
  speed.tpot = (1.0 / drafting_.kept()) * speed.decode_step;
  speed.admission = (asked / admitted - 1.0) * (first + output_ * speed.tpot);
  speed.ttft = first + speed.admission;
  speed.request = speed.ttft + output_ * speed.tpot;
  speed.requests_per_s = concurrency / in_seconds(speed.request);
  read_first(speed);
  return speed;
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
  speed.ttft += seconds(alone + wait + sent_);
  speed.request += seconds(alone + wait + sent_);
  speed.concurrency = speed.requests_per_s * in_seconds(speed.request);
}

/// Time that the server takes beside its accelerators, with so many requests in flight; nothing of one that it knew of
/// while another read it.
double LoadClock::server_time(double admitted, double prompt) const {
  const EngineRow& row = row_of(deployment_.question.serving.engine);
  if (role_of(deployment_) == ServerRole::decode && row.handover.by_chunks) return 0.0;
  const Overheads& beside = overheads();
  const double token_us = load_.natural_text ? beside.natural_us : beside.token_us;
  return 1e-3 * beside.first_ms + seat_time() * admitted + micro * token_us * prompt;
}

/// A server that sends several tokens together hands on as many fewer messages while a new request comes (vLLM pull
/// request 27869; SGLang managers/scheduler_output_processor_mixin.py, stream_output_generation; TensorRT-LLM
/// llmapi/llm_args.py, stream_interval). The first token of an answer goes by itself.
double LoadClock::seat_time() const {
  const auto together = deployment_.question.serving.options.stream_interval.value_or(1);
  return 1e-3 * overheads().seat_ms / static_cast<double>(together);
}

}  // namespace llmcalc::serving
