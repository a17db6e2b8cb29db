// The lines of one section of an answer about scaling.
#pragma once

#include "laws/inner/relation.hpp"
#include "laws/scaling.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::laws {

/// The formula with each word replaced by its number: "6 x params" -> "6 x 7B". Words are replaced in their order, so
/// that "critical batch" has to stand before "batch".
inline std::string with_numbers(std::string_view formula,
                                std::initializer_list<std::pair<std::string_view, std::string>> numbers) {
  std::string text(formula);
  for (const auto& [word, number] : numbers) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + number.size())) {
      text.replace(at, word.size(), number);
    }
  }
  return text;
}

/// Numbers that stand for the words of a formula.
using Numbers = std::initializer_list<std::pair<std::string_view, std::string>>;

class Section {
 public:
  Section(ScaleSection section, std::string_view source, ScaleAnswer& answer)
      : section_(section), source_(source), answer_(answer) {}

  /// \throws quantity::BadInput when the value is beyond counting
  void add(std::string_view id, std::string_view label, double value, std::string text, std::string_view formula,
           Numbers numbers = {});

  /// A line in the unit and form of a variable.
  void add(std::string_view id, Variable variable, double value, std::string_view formula, Numbers numbers = {});

 private:
  ScaleSection section_;
  std::string source_;
  ScaleAnswer& answer_;
};

/// "2.049 nats per token"
std::string loss_text(double loss);

/// Not below 0, where rounding leaves nothing to gain.
double at_least_none(double share);

/// \throws quantity::BadInput for a value that is not above 0 and for one that lacks what it depends on
void check_inference(const ScaleQuestion& question);

/// The largest models that the inference side of the question allows.
std::vector<ScaleLine> inference_limits(const ScaleQuestion& question);

/// Adds what the model weighs and how fast it decodes, where the question says what a weight is.
void add_inference(const ScaleQuestion& question, double params, ScaleAnswer& answer);

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

/// Half the best size, the best and twice it. \pre the law has a loss for every size
std::vector<FrontierPoint> neighbours(const KnownRun& run);

/// \throws quantity::BadInput when the law of the run has no such neighbours
std::vector<FrontierPoint> frontier(Frontier which, const KnownRun& run);

}  // namespace llmcalc::laws
