// What is asked about a run once it is known: its optimum, smaller models of the same loss, serving, batches.
#pragma once

#include "laws/inner/relation.hpp"
#include "laws/scaling.hpp"

namespace llmcalc::laws {

/// A run as the laws see it.
struct KnownRun {
  LawChoice choice;
  Allocation split;
  std::optional<double> loss;
  bool optimal = false;  ///< the split is the law's optimum
  bool budget = false;   ///< of a compute, time or money that was stated, and not of a wanted loss
};

/// Whether there can be such a model: at least one parameter and one token, and no more than can be counted.
bool countable(const Allocation& split);

/// The best model of the same compute, and what reaching the run's loss costs over the least that it could.
void add_optimum(const KnownRun& run, ScaleAnswer& answer);

/// Lines for every follow-up but the frontier.
/// \param solver  for MFU, peak and price where they are known
/// \throws quantity::BadInput when one cannot be answered under the law of the run
void add_follow_ups(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer);

/// The loss of the run. Comparing runs of equal loss needs a law whose optimum and loss are one surface.
/// \throws quantity::BadInput, in the name of the follow-up that asks, under a law that has none
double loss_on_surface(const KnownRun& run, std::string_view asker);

/// The split of least compute for a loss, which takes at most the run's own compute.
Allocation cheapest(const KnownRun& run, double loss);

/// The model that is cheapest to train and then to serve (scaling_serving.cpp).
void add_serving(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer);

/// Batch size and learning rate (scaling_batch.cpp).
void add_batch(const ScaleFollowUps& asked, const KnownRun& run, ScaleAnswer& answer);

/// Half the best size, the best and twice it. \pre the law has a loss for every size
std::vector<FrontierPoint> neighbours(const KnownRun& run);

/// \throws quantity::BadInput when the law of the run has no such neighbours
std::vector<FrontierPoint> frontier(Frontier which, const KnownRun& run);

}  // namespace llmcalc::laws
