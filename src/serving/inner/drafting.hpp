// Tokens that are proposed ahead of the model: what proposing them takes, and how many are kept.
#pragma once

#include "serving/engine.hpp"
#include "serving/inner/step_time.hpp"
#include "timing/serving_kernels.hpp"

#include <optional>

namespace llmcalc::serving {

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

}  // namespace llmcalc::serving
