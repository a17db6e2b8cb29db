#include "serving/inner/step_time.hpp"

#include "quantity/elementary.hpp"
#include "serving/inner/pace.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Seconds;
using quantity::seconds;

namespace {

Seconds microseconds(double n) { return seconds(micro * n); }

/// Bytes of a cached element.
double width_of(spec::CacheType type) {
  constexpr std::int64_t many = std::int64_t{1} << 20;
  return static_cast<double>(quantity::in_bytes(cache_bytes(type, many))) / static_cast<double>(many);
}

Launching launching_of(const Setup& setup) {
  const bool bare = setup.graph_batch == 0;
  const auto prompts = static_cast<double>(setup.graph_prompts);
  return {bare, bare || !setup.drafts_in_graphs, setup.late_us, prompts};
}

/// Tokens that the hottest rank's experts receive, of the mean, where experts are spread over ranks: up to 15 % more
/// once thousands choose (mixtures of the operation tables under a power law of 1.2 take 1.0 to 2.2 times as long as
/// balanced ones over 8 ranks; trained routers are more even). They reach as many of its experts as elsewhere, so that
/// what is read does not grow.
double hottest_rank(double tokens) {
  constexpr double most = 0.15;
  constexpr double decades = 3.0;
  return 1.0 + most * std::min(1.0, quantity::log10(std::max(tokens, 1.0)) / decades);
}

/// A recurrence's kernels in a prompt, whose chunks follow one another whatever the heads.
struct Chunked {
  double us = 0;
  double position_us = 0;
  double passes = 0;  ///< over q, k and v
};

/// Gated delta rules of the operation tables on Blackwell: Triton's under SGLang 0.5.14 and FlashInfer's under vLLM
/// 0.24, median 8 and 10 % off 936 shapes each, 16 and 10 on Hopper with constants of their own.
constexpr Chunked triton_delta{36, 0.022, 29};
constexpr Chunked flash_delta{22, 0.030, 9.6};
constexpr Chunked scan{40, 0, 9.6};  // as FlashInfer's, for want of a table

/// A copy of the model on its own accelerators, and where its ranks lie on machines: stages outside, tensor-parallel
/// ranks inside (vLLM distributed/parallel_state.py, initialize_model_parallel).
timing::Network network_of(const spec::Question& question, std::int64_t ranks) {
  spec::Layout layout = question.layout;
  layout.tp = ranks;
  layout.dp = question.serving.layout.attention_dp * question.layout.tp / ranks;
  return {*question.gpu, layout};
}

}  // namespace

/// A step of a rank: so many sequences, each with so many new tokens.
struct StepClock::Step {
  double sequences = 1;
  double tokens = 1;     ///< of all of them
  double positions = 1;  ///< of one: behind it in decoding, its own in a prompt
  bool decodes = false;
};

ServingStepTime& ServingStepTime::operator+=(const ServingStepTime& more) {
  matrices += more.matrices;
  attention += more.attention;
  experts += more.experts;
  exchange += more.exchange;
  overhead += more.overhead;
  return *this;
}

ServingStepTime& ServingStepTime::operator*=(double factor) {
  for (Seconds* part : {&matrices, &attention, &experts, &exchange, &overhead}) *part = factor * *part;
  return *this;
}

StepClock::StepClock(const Deployment& deployment, const timing::ServingKernels& kernels)
    : kernels_(kernels),
      stages_(step_work(deployment.question)),
      network_(network_of(deployment.question, deployment.question.layout.tp)),
      tensor_(network_.span(layers::RankGroup::tensor)),
      spread_(network_of(deployment.question,
                         deployment.question.layout.tp * deployment.question.serving.layout.attention_dp)
                  .span(layers::RankGroup::tensor)),
      attention_dp_(deployment.question.serving.layout.attention_dp),
      launching_(launching_of(deployment.setup)),
      sustained_(deployment.question.gpu->generation.prompts_in_a_row),
      cache_width_(width_of(deployment.setup.cache)) {
  flash_states_ = deployment.setup.flash_states;
  narrow_cache_ = cache_width_ < 2.0;
  for (const StageWork& stage : stages_) {
    for (const LayerWork& layer : stage.layers) {
      const double launched = static_cast<double>(layer.layers) * layer.operations;
      operations_ += launched;
      if (layer.passed != Passed::by_read) written_ += launched;
    }
  }
}

ServingStepTime StepClock::decode(double sequences, double positions, double tokens) const {
  const double together = std::max(1.0, sequences / static_cast<double>(stages_.size()));
  const double batches = sequences / together;
  ServingStepTime time;
  Seconds slowest = seconds(0);
  for (const StageWork& stage : stages_) {
    const ServingStepTime one = pass(stage, {together, together * tokens, positions, true});
    slowest = std::max(slowest, one.total());
    time += one;
  }
  time.overhead += std::max(batches * slowest - time.total(), seconds(0));
  time.exchange += through_stages(together * tokens);
  const Overheads& beside = overheads();
  time.overhead += microseconds(beside.step_us + launching_.step_us + beside.request_us * sequences);
  if (tokens > 1.0) time.overhead += microseconds(beside.draft_step_us + beside.draft_request_us * sequences);
  return launching_.all ? launched(time, written_) : time;
}

ServingStepTime StepClock::propose(double sequences, double positions) const {
  const StageWork& last = stages_.back();
  const Step step{sequences, sequences, positions, true};
  LayerWork layer = last.layers.back();
  layer.layers = 1;
  ServingStepTime time;
  add_layer(layer, last, step, time);
  if (last.head) time.matrices += matrix(*last.head, step);
  return launching_.drafts ? launched(time, layer.operations) : time;
}

ServingStepTime StepClock::prompt(double sequences, double positions) const {
  ServingStepTime time;
  for (const StageWork& stage : stages_) time += pass(stage, {sequences, sequences * positions, positions, false});
  time *= sustained_;
  time.exchange += through_stages(sequences * positions);
  return time;
}

Seconds StepClock::launching_prompts() const { return microseconds(launched_us * operations_); }

/// The host launches so many operations one by one: a shorter step waits for it.
ServingStepTime StepClock::launched(ServingStepTime time, double operations) const {
  const Seconds host = microseconds(launched_us * operations);
  if (host > time.total()) time.overhead += host - time.total();
  return time;
}

ServingStepTime StepClock::pass(const StageWork& stage, const Step& step) const {
  ServingStepTime time;
  for (const LayerWork& layer : stage.layers) add_layer(layer, stage, step, time);
  if (stage.head) {
    Step last = step;
    if (!step.decodes) last.tokens = step.sequences;
    time.matrices += matrix(*stage.head, last);
  }
  return time;
}

void StepClock::add_layer(const LayerWork& layer, const StageWork& stage, const Step& asked,
                          ServingStepTime& time) const {
  if (layer.passed == Passed::by_read && asked.decodes) return;
  // An encoder reads the prompt, and the decoder begins with a token, which sees all of it; or it reads always as many
  // positions, and the prompt is the decoder's.
  const bool fixed = layer.read > 0;
  const Step reading = fixed ? Step{asked.sequences, asked.sequences * layer.read, layer.read} : asked;
  const bool begins = layer.passed == Passed::by_written && !asked.decodes && !fixed;
  Step step = begins ? Step{asked.sequences, asked.sequences, asked.positions, true} : asked;
  if (layer.passed == Passed::by_read) step = reading;
  ServingStepTime one;
  for (const MatrixWork& each : layer.matrices) {
    if (!each.of_memory || !asked.decodes) one.matrices += matrix(each, each.of_memory ? reading : step);
  }
  if (fixed && asked.decodes) step.positions += layer.read;
  constexpr double launch_us = 2.5;  // as measured of kernels of training: presets/rates/unmeasured.json
  one.matrices += static_cast<double>(layer.activations) * microseconds(launch_us) +
                  kernels_.stream(step.tokens * layer.activation_bytes);
  if (!step.decodes) one.matrices += kernels_.stream(step.tokens * layer.passed_bytes);
  one.attention = mixer(layer.mixer, step);
  if (layer.experts) one.experts = experts(*layer.experts, stage, step);
  one.exchange = exchange(stage, layer, step);
  one.overhead = overhead(layer);
  const auto layers = static_cast<double>(layer.layers);
  time.matrices += layers * one.matrices;
  time.attention += layers * one.attention;
  time.experts += layers * one.experts;
  time.exchange += layers * one.exchange;
  time.overhead += layers * one.overhead;
}

/// Absorbed matrices are two small products a head, whose floors are paid once for all heads.
Seconds StepClock::matrix(const MatrixWork& matrix, const Step& step) const {
  if (matrix.absorbed() && step.decodes) {
    constexpr double floors_us = 10.0;
    constexpr double share = 0.75;  // of what a stream reaches: batched products of few rows (mla_bmm of the tables)
    return microseconds(floors_us) + kernels_.stream(matrix.bytes) / share;
  }
  return kernels_.product({step.tokens * matrix.copies, matrix.n, matrix.k, matrix.bytes}, matrix.operands);
}

Seconds StepClock::mixer(const MixerWork& mixer, const Step& step) const {
  Seconds time = seconds(0);
  if (mixer.state_bytes > 0) time += recurrence(mixer, step);
  if (mixer.kept.reach != Reach::state) time += latent_or_grouped(mixer, step);
  return time;
}

Seconds StepClock::latent_or_grouped(const MixerWork& mixer, const Step& step) const {
  const auto elements = static_cast<double>(mixer.kept.elements);
  if (step.decodes) {
    const auto length = static_cast<std::int64_t>(step.positions);
    const auto seen = static_cast<double>(positions_read(mixer.kept, std::max<std::int64_t>(length, 1)));
    const timing::CacheRead read{step.sequences * seen * elements * cache_width_,
                                 step.sequences * seen * mixer.flops_per_read, seen};
    const Seconds index = kernels_.stream(step.sequences * step.positions * mixer.index_elements);
    if (mixer.index_elements > 0) return index + kernels_.decode_latent(read, narrow_cache_);
    return mixer.kept.latent ? kernels_.decode_latent(read, narrow_cache_)
                             : kernels_.decode_attention(read, narrow_cache_);
  }
  const double window =
      mixer.kept.window > 0 ? std::min(static_cast<double>(mixer.kept.window), step.positions) : step.positions;
  const double pairs = window * step.positions - (mixer.causal ? window * window / 2 : 0.0);
  const bool chosen = mixer.kept.latent && window < step.positions;  // by an indexer that looks at all
  const double flops = pairs * (chosen ? mixer.flops_per_choice : mixer.flops_per_pair) +
                       (chosen ? step.positions * step.positions / 2 * mixer.index_flops : 0.0);
  const timing::PromptAttention work{step.sequences * flops, step.tokens * mixer.moved_per_position, step.positions,
                                     mixer.head_dim};
  return mixer.kept.latent ? kernels_.prompt_latent(work, narrow_cache_)
                           : kernels_.prompt_attention(work, narrow_cache_);
}

/// A recurrence and its convolution, from the operation tables (linear_attn): 4.6 us for one sequence on H200, 71 us
/// for 64, which read and write their states at three quarters of the bandwidth. Judged tokens leave a state each, of
/// which the last accepted one stays (SGLang mem_cache/memory_pool.py, intermediate_ssm; vLLM v1/kv_cache_interface.py,
/// MambaSpec).
Seconds StepClock::recurrence(const MixerWork& mixer, const Step& step) const {
  constexpr double convolution_us = 4.0;
  constexpr double decode_us = 4.6;
  constexpr double share = 0.94;  // of what a stream reaches
  if (step.decodes) {
    const double states = step.sequences + step.tokens;  // read, and written
    return microseconds(decode_us + convolution_us) + kernels_.stream(states * mixer.state_bytes) / share;
  }
  const Chunked& kernel = mixer.gated_delta ? (flash_states_ ? flash_delta : triton_delta) : scan;
  return microseconds(kernel.us + kernel.position_us * step.positions) +
         kernels_.stream(kernel.passes * step.tokens * mixer.scanned_per_position);
}

/// Tokens of all copies of the attention choose among all experts: E (1 - (1 - K/E)^tokens) of them are reached where
/// routing is even.
Seconds StepClock::experts(const ExpertWork& experts, const StageWork& stage, const Step& step) const {
  const double tokens = step.tokens * static_cast<double>(attention_dp_);
  const double missed = quantity::pow(1.0 - experts.chosen / experts.experts, tokens);
  const double active = std::max(1.0, experts.local * (1.0 - missed));
  const double hottest = experts.local < experts.experts ? hottest_rank(tokens) : 1.0;
  const double sent = std::max(1.0, hottest * tokens * experts.chosen * experts.local / experts.experts);
  return kernels_.mixture({.sent = sent,
                           .active = active,
                           .weight_bytes = active * experts.bytes,
                           .flops = 2 * sent * experts.elements,
                           .hidden_bytes = tokens * stage.hidden_bytes},
                          experts.operands);
}

/// All-reduces behind attention and behind the MLP (Shoeybi et al. 2019, arXiv:1909.08053 section 3). With several
/// copies of the attention all tokens travel to the experts, or to an MLP that is cut over them, and back, as much as
/// one over all ranks.
Seconds StepClock::exchange(const StageWork& stage, const LayerWork& layer, const Step& step) const {
  const double bytes = step.tokens * stage.hidden_bytes;
  const auto meets_all = [](const MatrixWork& matrix) { return matrix.copies > 1; };
  const bool spread = attention_dp_ > 1 && (layer.experts || std::ranges::any_of(layer.matrices, meets_all));
  const Seconds meeting = microseconds(overheads().meeting_us);
  Seconds time;
  const int sums = layer.residuals - (spread ? 1 : 0);
  if (tensor_.ranks > 1) time += static_cast<double>(sums) * (all_reduce(bytes, tensor_) + meeting);
  if (spread) time += all_reduce(bytes * static_cast<double>(attention_dp_), spread_) + meeting;
  return time;
}

Seconds StepClock::all_reduce(double bytes, const timing::GroupSpan& span) const {
  if (span.nodes() == 1) return kernels_.all_reduce(bytes, span.ranks);
  return network_.collective(layers::Collective::all_reduce, quantity::bytes(std::llround(bytes)), span);
}

Seconds StepClock::through_stages(double tokens) const {
  const double bytes = tokens * stages_.front().hidden_bytes;
  return static_cast<double>(stages_.size() - 1) * network_.to_next_stage(quantity::bytes(std::llround(bytes)));
}

Seconds StepClock::overhead(const LayerWork& layer) const {
  const Overheads& beside = overheads();
  double us = beside.layer_us / 2 * layer.residuals;
  if (layer.experts) us += beside.mixture_us;
  if (layer.norms_heads) us += beside.head_norms_us;
  if (layer.mixer.kept.latent) us += beside.latents_us;
  if (layer.mixer.state_bytes > 0) us += beside.recurrence_us;
  return microseconds(us);
}

}  // namespace llmcalc::serving
