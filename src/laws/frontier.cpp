// The neighbours of a run's optimum.
#include "laws/inner/scaling_follow_ups.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace llmcalc::laws {

namespace {

// Sizes in powers of two and budgets in half powers of ten around the optimum.
constexpr std::array size_exponents{-3, -2, -1, 0, 1, 2, 3};
constexpr std::array neighbour_exponents{-1, 0, 1};
constexpr std::array budget_exponents{-4, -3, -2, -1, 0, 1, 2, 3, 4};

FrontierPoint size_point(const KnownRun& run, const Optimum& best, double params) {
  const double compute = run.split.compute();
  const Allocation split{params, compute / (training_flops * params)};
  FrontierPoint point{split, loss_of(run.choice, split), params == best.split.params, std::nullopt};
  if (const auto tokens = tokens_for_loss(run.choice, params, *best.loss)) {
    point.same_loss_compute = Allocation{params, *tokens}.compute() / compute;
  }
  return point;
}

std::vector<FrontierPoint> sizes_around(const KnownRun& run, std::span<const int> exponents) {
  const auto best = optimum_at(run.choice, run.split.compute());
  std::vector<FrontierPoint> points;
  for (const int exponent : exponents) {
    const auto point = size_point(run, best, best.split.params * std::exp2(exponent));
    if (countable(point.split)) points.push_back(point);
  }
  return points;
}

}  // namespace

std::vector<FrontierPoint> neighbours(const KnownRun& run) { return sizes_around(run, neighbour_exponents); }

std::vector<FrontierPoint> frontier(Frontier which, const KnownRun& run) {
  const double compute = run.split.compute();
  std::vector<FrontierPoint> points;
  if (which == Frontier::budgets) {
    for (const int exponent : budget_exponents) {
      const auto best = optimum_at(run.choice, compute * std::pow(10.0, exponent / 2.0));
      if (countable(best.split)) points.push_back({best.split, best.loss, exponent == 0, std::nullopt});
    }
    return points;
  }
  const auto& law = facts(run.choice.law);
  if (!law.surface) {
    throw quantity::BadInput("frontier", fmt::format("the law {} says nothing of sizes beside the best", law.name),
                             "ask for budgets, or for the law chinchilla or data-constrained");
  }
  return sizes_around(run, size_exponents);
}

}  // namespace llmcalc::laws
