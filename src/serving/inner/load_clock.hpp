// What servers of one kind do with the requests of a load: a walk over their steps, prompts and answers. Where prompts
// are read by servers of their own, theirs go before.
#pragma once

#include "serving/inner/drafting.hpp"
#include "serving/inner/scheduler.hpp"
#include "serving/inner/step_time.hpp"
#include "serving/speed.hpp"
#include "timing/serving_kernels.hpp"

#include <memory>

namespace llmcalc::serving {

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
  /// With so many requests in flight over the deployment, each followed by another.
  Speed at(double concurrency) const;
  /// With every seat taken by another request as soon as it is free.
  Speed full() const { return readers_ ? writing(seats()) : in_loop(2 * seats()); }
  /// The load as it comes, by its arrivals, at servers that are at work already. \pre they can answer as fast
  Speed as_it_comes(double rate) const;
  /// What requests wait for beside their mean, of so many clients.
  Tail tail(const Speed& mean) const;

 private:
  /// A step that makes tokens of all running sequences, in seconds.
  struct Step {
    double time = 0;
    double tokens = 1.0;  ///< that it makes of each, drafts counted
    ServingStepTime parts;
  };

  double copies() const;
  std::int64_t clients(double concurrency) const;
  void prompt();
  double prompt_time(double tokens, double length) const;
  Step step_time(double sequences, double positions) const;
  void take_step(double sequences, Speed& speed) const;
  void prepare_steps();
  Speed in_loop(double concurrency) const;
  Speed writing(double concurrency) const;
  Tail tail_of_rate(const Speed& mean, bool as_it_comes) const;
  double server_time(double admitted, double prompt) const;
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
