// What is asked about a run once it is known: its optimum, smaller models of the same loss, serving, batches.
#pragma once

#include "answer/relation.hpp"
#include "llmcalc/answer/scaling.hpp"

namespace llmcalc::answer {

/// A run as the laws see it.
struct KnownRun {
  LawChoice choice;
  Allocation split;
  std::optional<double> loss;
  bool optimal = false;  ///< the split is the law's optimum
};

/// Whether there can be such a model: at least one parameter and one token, and no more than can be counted.
bool countable(const Allocation& split);

/// The best model of the same compute, and what reaching the run's loss costs over the least that it could.
void add_optimum(const KnownRun& run, ScaleAnswer& answer);

/// Lines for every follow-up but the frontier.
/// \param solver  for MFU, peak and price where they are known
/// \throws quantity::BadInput when one cannot be answered under the law of the run
void add_follow_ups(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer);

/// \throws quantity::BadInput when the law of the run has no such neighbours
std::vector<FrontierPoint> frontier(Frontier which, const KnownRun& run);

}  // namespace llmcalc::answer
