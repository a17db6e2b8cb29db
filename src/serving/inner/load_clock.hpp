// What servers of one kind do with the requests of a load: a walk over their steps, prompts and answers. Where prompts
// are read by servers of their own, theirs go before.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "serving/engine.hpp"
#include "serving/inner/step_time.hpp"
#include "serving/speed.hpp"
#include "timing/serving_kernels.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::serving {

// An engine's scheduler, step by step: which requests a step holds, and when each of them has its tokens.

/// One copy of the model as its scheduler sees it; times are in seconds.
struct SteppedEngine {
  std::function<double(double sequences, double positions)> decode;  ///< a step that makes tokens of so many
  std::function<double(double tokens, double length)> prompt;        ///< so many tokens of prompts of such a length
  std::function<double(double tokens, double length)> met;  ///< of these what copies that step together do in common
  std::size_t together = 1;                                 ///< copies whose tokens meet at the experts of each layer
  double stages = 1;                                        ///< that prompts pass one by one, while others follow
  double launch_s = 0;  ///< the least that a step with prompts takes, of more tokens than the next says
  double replayed = 0;
  double tokens = 1;       ///< that a step makes of each sequence, drafts counted
  double judged = 1;       ///< of each sequence that a step is charged for
  double step_tokens = 1;  ///< the most of one step
  double sequences = 1;    ///< the most of one step
  double shared_prefix = 0;
  double seat_share = 0;       ///< of the cache, by a sequence
  double position_share = 0;   ///< and by each of its positions
  bool prompts_alone = false;  ///< prompts are read before anything is decoded, in steps of their own
  bool ahead = false;          ///< what a step holds is decided when the one before it begins
  bool comes_read = false;  ///< requests come with the cache of their prompt, which is read here only after preemption
  bool whole_prompts = false;  ///< a prompt that fits into a step is not cut, and a step has room beside it
  bool reads_only = false;     ///< requests leave with their first token
  double kept_ahead = 0;       ///< of the tokens still to come, for which room is kept before another is let in
  double wait_steps = 0;       ///< decoding steps for which a new request is let wait
  double poll_steps = 1;       ///< or after so many of which those that came are looked at
  bool gathers = false;        ///< until which copies wait for each other's prompts
  double front_s = 0;          ///< of one process, through which requests go one by one: a request
  double front_token_s = 0;    ///< and a token of its prompt
  double request_s = 0;        ///< a request's way to the scheduler
  double seat_s = 0;           ///< and a token's way back for each request in flight
  double token_s = 0;          ///< and that of each token of its prompt
};

/// When a request was sent, had its first token, and its last.
struct Answered {
  double sent = 0;
  double first = 0;
  double last = 0;
};

struct Stepped {
  std::vector<Answered> requests;  ///< in their order
  std::int64_t preempted = 0;      ///< times that one lost its room and was read again
  double waited = 0;               ///< seconds of all requests together before their first token, for steps and room
};

/// Requests at the times of their arrivals, or, with `clients` at work, so many of them so, and the next whenever one
/// has its answer.
Stepped step_through(const SteppedEngine& engine, std::span<const spec::Request> requests, std::int64_t clients);

// What most requests of a load wait for, beside the mean: its requests one by one through the engine's scheduler.

/// Prices that many steps ask for, between those that were worked out once, at powers of the square root of two.
class PriceTable {
 public:
  explicit PriceTable(std::function<double(double x, double y)> price);

  /// \pre both are at least 1
  double at(double x, double y);

 private:
  double node(std::size_t i, std::size_t j);

  std::function<double(double x, double y)> price_;
  std::vector<double> nodes_;
};

/// The load as it comes: the requests of its trace, in turn on each of so many copies, or drawn ones of one copy,
/// lengths evenly and arrivals by chance.
Tail tail_of_arrivals(const SteppedEngine& engine, const spec::Load& load, std::int64_t copies);

/// Seconds of a closed loop.
struct LoopTimes {
  double first = 0;             ///< to the first token
  std::optional<double> later;  ///< to each that follows; empty where none does
  double waited = 0;            ///< of the first, behind the scheduler
  double whole = 0;             ///< until all have their answers
  std::int64_t requests = 0;    ///< of one copy
};

/// So many clients of one copy, each of which sends its next request when it has its answer: means of their requests.
LoopTimes loop_times(const SteppedEngine& engine, const spec::Load& load, std::int64_t clients, double copies);

/// And what most of them wait for, once all have had an answer.
/// \param mean  whose first token and later ones those of the requests are in the mean
Tail tail_of_clients(const SteppedEngine& engine, const spec::Load& load, std::int64_t clients, double copies,
                     const Speed& mean);

/// So many copies of a server.
struct Servers {
  SteppedEngine engine;
  std::int64_t copies = 1;
};

/// A load whose prompts are read elsewhere, and how long a token's cache is on its way.
struct Sent {
  const spec::Load& load;
  double token_s = 0;
};

/// Tail of a load whose prompts some servers read and whose answers others write. Where it does not come by itself
/// requests are drawn at the mean's rate, and their means are those of `mean`.
Tail tail_of_both(const Servers& readers, const Servers& writers, const Sent& sent, const Speed& mean,
                  bool as_it_comes);

// Tokens that are proposed ahead of the model: what proposing them takes, and how many are kept.

class Drafting {
 public:
  /// \pre both outlive it
  Drafting(const Deployment& deployment, const timing::ServingKernels& kernels);

  double proposed() const { return proposed_; }  ///< of each sequence in a step

  /// Tokens that a step makes of each sequence: the model's own, and each proposed one whose predecessors were right,
  /// the sum of the powers of the share that is accepted (Leviathan et al. 2023, arXiv:2211.17192 equation 1).
  double kept() const;

  /// Seconds of all proposals of a step whose judgement takes `judged`. Each passes a layer of the model and its head
  /// (MTP and EAGLE have one layer), or a model of its own, one token after another. \param own  of engines on torch:
  /// the clock of the model that judges
  double proposing(const StepClock* own, double judged, double sequences, double positions) const;

  /// Seconds that a proposing model takes for prompts, which it reads as well.
  double reading(double sequences, double positions) const;

 private:
  const Deployment& deployment_;
  double proposed_ = 0;
  std::optional<StepClock> model_;  ///< of engines on torch
};

/// Mean of lengths that are drawn evenly from the shortest to the longest.
double mean_length(std::int64_t longest, const spec::Load& load);

class LoadClock {
 public:
  /// \pre it outlives the clock
  explicit LoadClock(const Deployment& deployment);

  const timing::ServingKernels& kernels() const { return kernels_; }
  bool runs() const { return room_ >= 1.0 && (!readers_ || readers_->runs()); }
  /// Requests that run at once over the deployment, not counting those whose prompts others read.
  double seats() const { return room_ * copies(); }
  /// Speed with so many requests in flight over the deployment, each followed by another.
  Speed at(double concurrency) const;
  /// Speed with every seat taken by another request as soon as it is free.
  Speed full() const { return readers_ ? writing(seats()) : in_loop(2 * seats()); }
  /// The load as it comes, by its arrivals, at servers that are at work already. \pre they can answer as fast
  Speed as_it_comes(double rate) const;
  /// Tail of the requests of so many clients beside their mean.
  Tail tail(const Speed& mean) const;

 private:
  /// A step that makes tokens of all running sequences, in seconds.
  struct Step {
    double time = 0;
    double tokens = 1.0;  ///< that it makes of each, drafts counted
    ServingStepTime parts;
  };

  double sequences_in(const RankMemory& rank, std::int64_t length) const;
  double copies() const;
  std::int64_t clients(double concurrency) const;
  void prompt();
  double prompt_time(double tokens, double length) const;
  double ggml_prompt(double length) const;
  std::function<double(double tokens, double length)> prompt_prices() const;
  Step step_time(double sequences, double positions) const;
  void take_step(double sequences, Speed& speed) const;
  void take_pass(Speed& speed) const;
  void prepare_steps();
  Speed in_loop(double concurrency) const;
  Speed writing(double concurrency) const;
  Tail tail_of_rate(const Speed& mean, bool as_it_comes) const;
  double server_time(double admitted, double prompt) const;
  double seat_time() const;
  void read_first(Speed& speed) const;

  const Deployment& deployment_;
  const spec::Load& load_;
  timing::ServingKernels kernels_;
  StepClock clock_;
  Drafting drafting_;
  std::unique_ptr<const LoadClock> readers_;  ///< of the servers that read prompts
  SteppedEngine engine_;                      ///< with prices that are kept
  double sent_ = 0;                           ///< seconds of a cache on its way from them
  bool ggml_ = false;
  double output_ = 1;
  double positions_ = 0;
  double room_ = 0;
  double prompt_tokens_ = 0;
  double own_prompt_ = 0;     ///< seconds of a prompt alone
  double shared_prompt_ = 0;  ///< of each where as many as fit into a step go together
};

}  // namespace llmcalc::serving
