#include "laws/inner/scaling_close.hpp"

#include "laws/inner/formula_text.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::laws {

namespace {

namespace q = quantity;
using enum Variable;

// Hoffmann et al. 2022, table 3: 67B and 1.5T at Gopher's budget, 20 to 22 tokens a parameter over all budgets.
constexpr double compute_optimal_ratio = 20.0;
constexpr std::string_view ratio_source = "Hoffmann et al. 2022, arXiv:2203.15556, table 3";

void set_derived(Solver& solver, Variable variable, double value, answer::Explanation why) {
  solver.set(variable, {value, Standing::derived, std::move(why)});
  solver.propagate();
}

void set_usual(Solver& solver, Variable variable, double value, const Usual& usual, ScaleAnswer& answer) {
  const std::string text = text_of(variable, value);
  solver.set(variable, {value, Standing::assumed, {"assumed", text, usual.source}});
  answer.assumptions.push_back(fmt::format("{} {} ({})", facts(variable).label, text, usual.source));
  solver.propagate();
}

/// A price that nobody gave and that does not follow from cost and GPU time.
void assume_price(const ScaleQuestion& question, Solver& solver, ScaleAnswer& answer) {
  if (!question.usual_price) return;
  const double usual = question.usual_price->value / q::seconds_per_hour;
  if (!solver.knows(price)) return set_usual(solver, price, usual, *question.usual_price, answer);
  constexpr double much = 0.05;  // as far as rounded figures may be apart
  if (solver[price]->origin != Standing::derived || std::abs(solver[price]->value / usual - 1.0) <= much) return;
  answer.warnings.push_back(fmt::format("cost and GPU time make {}, but {} is usual ({})",
                                        text_of(price, solver[price]->value), text_of(price, usual),
                                        question.usual_price->source));
}

void assume_mfu(const ScaleQuestion& question, Solver& solver, ScaleAnswer& answer) {
  if (!question.usual_mfu || solver.knows(mfu)) return;
  set_usual(solver, mfu, question.usual_mfu->value, *question.usual_mfu, answer);
}

[[noreturn]] void throw_unreachable(double loss, std::string_view what, const LawFacts& law) {
  throw q::BadInput(
      "loss", fmt::format("{:.4g} is out of reach {} under the law {}", loss, what, law.name),
      law.formula.empty() ? "this law predicts no loss; chinchilla does" : fmt::format("loss = {}", law.formula));
}

/// From a loss to whatever is still open: tokens, parameters or the compute of the optimum.
void reach_loss(double loss, const LawChoice& choice, Solver& solver) {
  const auto& law = facts(choice.law);
  if (solver.knows(ratio) || solver.knows(compute)) {
    throw q::BadInput("loss", "follows from the compute, and is not free where tokens are given for each parameter",
                      "give the loss alone, or with params or tokens");
  }
  const answer::Explanation why{"loss = " + std::string(law.formula), fmt::format("loss = {:.4g}", loss),
                                std::string(law.source)};
  if (solver.knows(params)) {
    const auto found = tokens_for_loss(choice, solver[params]->value, loss);
    if (!found) throw_unreachable(loss, "of " + text_of(params, solver[params]->value) + " parameters", law);
    set_derived(solver, tokens, *found, why);
  } else if (solver.knows(tokens)) {
    const auto found = params_for_loss(choice, solver[tokens]->value, loss);
    if (!found) throw_unreachable(loss, "with " + text_of(tokens, solver[tokens]->value) + " tokens", law);
    set_derived(solver, params, *found, why);
  } else {
    const auto found = compute_for_loss(choice, loss);
    if (!found) throw_unreachable(loss, "with any compute", law);
    set_derived(solver, compute, *found, why);
  }
}

/// One of parameters, tokens and compute is known: the optimum of the law for it.
void follow_law(const LawChoice& choice, Solver& solver, ScaleAnswer& answer) {
  const auto& law = facts(choice.law);
  const std::string source(law.source);
  if (!solver.knows(compute)) {
    const auto known = solver.knows(params) ? params : tokens;
    const double value = solver[known]->value;
    const double found = known == params ? compute_for_params(choice, value) : compute_for_tokens(choice, value);
    set_derived(
        solver, compute, found,
        {fmt::format("the compute whose best {} these are", facts(known).label), text_of(known, value), source});
  }
  const double work = solver[compute]->value;
  if (!solver.knows(params)) {
    set_derived(solver, params, optimum_at(choice, work).split.params,
                {std::string(law.optimal_params),
                 with_numbers(law.optimal_params, {{"compute", text_of(compute, work)}}), source});
  }
  answer.assumptions.push_back(fmt::format("compute-optimal under the law {} ({})", law.name, law.source));
}

void follow_rule_of_thumb(Solver& solver, ScaleAnswer& answer) {
  solver.set(ratio, {compute_optimal_ratio, Standing::assumed, {"assumed", "20", std::string(ratio_source)}});
  answer.assumptions.emplace_back("compute-optimal at 20 tokens a parameter (Hoffmann et al. 2022)");
  solver.propagate();
}

/// Where neither parameters, tokens nor compute can be known: the largest model that inference allows.
void start_from_limits(const std::vector<ScaleLine>& limits, Solver& solver) {
  if (limits.empty()) {
    solver.check_all_used();
    throw q::BadInput("scale", "there is nothing to scale from",
                      "give params, tokens, compute or a loss; or gpus, time, peak and mfu; or cost, price, peak and "
                      "mfu; or memory and a dtype");
  }
  const auto& tightest = *std::ranges::min_element(limits, {}, &ScaleLine::value);
  set_derived(solver, params, tightest.value, tightest.why);
}

/// Parameters and tokens, by the loss, the law or the rule of thumb.
Closing close_run(const ScaleQuestion& question, const std::vector<ScaleLine>& limits, Solver& solver,
                  ScaleAnswer& answer) {
  if (solver.knows(params) && solver.knows(tokens)) {
    if (question.loss) throw q::BadInput("loss", "follows from parameters and tokens", "leave one of the three out");
    return Closing::given;
  }
  if (question.loss) {
    reach_loss(*question.loss, choice_of(answer.law, solver), solver);
    if (solver.knows(params) && solver.knows(tokens)) return Closing::given;
  }
  if (!solver.knows(params) && !solver.knows(tokens) && !solver.knows(compute)) start_from_limits(limits, solver);
  const bool named = question.law || answer.law == ScalingLaw::data_constrained;
  if (solver.knows(compute) || named) {
    follow_law(choice_of(answer.law, solver), solver, answer);
    return Closing::law;
  }
  follow_rule_of_thumb(solver, answer);
  return Closing::rule;
}

}  // namespace

ScalingLaw law_of(const ScaleQuestion& question) {
  const bool repeats = question.unique_tokens || question.epochs;
  const auto fallback = repeats ? ScalingLaw::data_constrained : ScalingLaw::chinchilla;
  const auto law = question.law.value_or(fallback);
  if (repeats && law != ScalingLaw::data_constrained) {
    throw q::BadInput("law", fmt::format("{} takes all tokens to be unique", facts(law).name),
                      "with unique tokens or epochs the law is data-constrained");
  }
  return law;
}

LawChoice choice_of(ScalingLaw law, const Solver& solver) {
  if (law != ScalingLaw::data_constrained) return {law};
  if (solver.knows(unique_tokens)) return {law, solver[unique_tokens]->value};
  throw q::BadInput("law", "data-constrained needs to know how much data there is", "give unique tokens");
}

Closing close(const ScaleQuestion& question, const std::vector<ScaleLine>& limits, Solver& solver,
              ScaleAnswer& answer) {
  assume_price(question, solver, answer);
  if (solver.knows(gpu_time) && !solver.knows(compute)) assume_mfu(question, solver, answer);
  const auto closing = close_run(question, limits, solver, answer);
  assume_mfu(question, solver, answer);
  return closing;
}

}  // namespace llmcalc::laws
