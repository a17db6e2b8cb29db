// The time of an engine step: a walk over the work of its layers that prices each kernel.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "serving/engine.hpp"
#include "serving/inner/step_work.hpp"
#include "timing/network.hpp"

namespace llmcalc::serving {

/// Where the time of a step goes.
struct ServingStepTime {
  quantity::Seconds matrices;   ///< of attention, dense MLP, shared experts and head
  quantity::Seconds attention;  ///< and recurrences
  quantity::Seconds experts;
  quantity::Seconds exchange;  ///< between ranks
  quantity::Seconds overhead;  ///< of the engine

  quantity::Seconds total() const { return matrices + attention + experts + exchange + overhead; }
  ServingStepTime& operator+=(const ServingStepTime& more);
  ServingStepTime& operator*=(double factor);
};

/// Launching of kernels one by one by the host, for which the accelerator waits where it is faster.
struct Launching {
  bool all = false;      ///< no graph was captured (--graphs 0, transformers)
  bool drafts = false;   ///< none of the layers that propose tokens
  double step_us = 0.0;  ///< a step that is scheduled only after the one before
  double replayed = 0;   ///< tokens of prompts up to which a step replays a graph
};

/// An operation that the host launches by itself: 62 us on A800 (28 dense layers of 13 in 22 to 23 ms, vllm-omni issue
/// 7960), 46 on RTX 5090 (64 of 15 in 42 to 45 ms, of one sequence as of eight; local-inference-lab/vllm pull 314).
inline constexpr double launched_us = 53;

/// Prices steps of one layout.
class StepClock {
 public:
  StepClock(const Deployment& deployment, const timing::ServingKernels& kernels);

  /// One pass over so many sequences of a rank, which have so many positions behind them (means of both). The sequences
  /// are spread over the pipeline's micro-batches, and a token goes through all stages; micro-batches that wait for the
  /// slowest, mostly the last with its head, do so in the engine's own time.
  /// \param tokens  of each sequence: more than one where drafts are judged
  ServingStepTime decode(double sequences, double positions, double tokens) const;

  /// A token of each sequence proposed by a layer of the model's own last kind (MTP, EAGLE), which is told the head's
  /// word each time: the head is read as often as tokens are proposed.
  ServingStepTime propose(double sequences, double positions) const;

  /// So many prompts of a rank at once, through all stages, while others follow: their kernels alone.
  ServingStepTime prompt(double sequences, double positions) const;
  /// Time that the host takes to launch the kernels of a step that holds prompts, and no graph of it was captured.
  quantity::Seconds launching_prompts() const;
  /// The most tokens of such a step that replays a graph.
  double replayed() const { return launching_.replayed; }

 private:
  struct Step;
  ServingStepTime pass(const StageWork& stage, const Step& step) const;
  void add_layer(const LayerWork& layer, const StageWork& stage, const Step& asked, ServingStepTime& time) const;
  quantity::Seconds matrix(const MatrixWork& matrix, const Step& step) const;
  quantity::Seconds mixer(const MixerWork& mixer, const Step& step) const;
  quantity::Seconds latent_or_grouped(const MixerWork& mixer, const Step& step) const;
  quantity::Seconds recurrence(const MixerWork& mixer, const Step& step) const;
  quantity::Seconds experts(const ExpertWork& experts, const StageWork& stage, const Step& step) const;
  quantity::Seconds exchange(const StageWork& stage, const LayerWork& layer, const Step& step) const;
  /// Among so many consecutive ranks, by the custom kernels of one machine or over the network.
  quantity::Seconds all_reduce(double bytes, const timing::GroupSpan& span) const;
  /// From one pipeline stage to the next, through all of them.
  quantity::Seconds through_stages(double tokens) const;
  quantity::Seconds overhead(const LayerWork& layer) const;
  ServingStepTime launched(ServingStepTime time, double operations) const;

  const timing::ServingKernels& kernels_;
  std::vector<StageWork> stages_;
  timing::Network network_;
  timing::GroupSpan tensor_;  ///< tensor-parallel ranks
  timing::GroupSpan spread_;  ///< with those of the other copies of the attention
  std::int64_t attention_dp_ = 1;
  bool narrow_cache_ = false;
  bool flash_states_ = false;
  Launching launching_;
  double sustained_ = 1.0;
  double operations_ = 0;     ///< of all layers
  double written_ = 0;        ///< and of those that what is written passes
  double cache_width_ = 2.0;  ///< bytes of an element
};

}  // namespace llmcalc::serving
