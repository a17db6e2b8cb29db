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

struct Turns;

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
  /// With so many requests in flight over the deployment.
  Speed at(double concurrency) const;
  /// With so many of them at these servers. \pre no more than have a seat, where others read prompts
  Speed running(double concurrency) const;
  /// \param as_it_comes  by the arrivals of the load instead of as many clients as the mean is of
  Tail tail(const Speed& mean, bool as_it_comes) const;

 private:
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

  double copies() const;
  void prompt();
  double prompt_time(double tokens, double length) const;
  Pass step_time(double sequences, double positions) const;
  Pass at_once(double sequences) const;
  SteppedEngine stepped(const Speed& mean) const;
  void compose(const Pass& pass, const Running& running, Speed& speed) const;
  double before(double admitted, double others) const;
  double first_token(const Pass& pass, double admitted) const;
  double server_time(double admitted, double prompt) const;
  double waited_steps() const;
  void read_first(Speed& speed) const;

  const Deployment& deployment_;
  const spec::Load& load_;
  timing::ServingKernels kernels_;
  StepClock clock_;
  Drafting drafting_;
  const Turns& turns_;
  std::unique_ptr<const LoadClock> readers_;  ///< of the servers that read prompts
  double sent_ = 0;                           ///< seconds of a cache on its way from them
  bool ggml_ = false;
  double output_ = 1;
  double positions_ = 0;
  double room_ = 0;
  double prompt_tokens_ = 0;
  double own_prompt_ = 0;
  double shared_prompt_ = 0;
};

}  // namespace llmcalc::serving
