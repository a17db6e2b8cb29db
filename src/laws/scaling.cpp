#include "laws/scaling.hpp"

#include "answer/figures.hpp"
#include "laws/inner/relation.hpp"
#include "laws/inner/scaling_section.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::laws {

namespace q = quantity;

namespace {

/// How parameters and tokens came to be known.
enum class Closing {
  given,  ///< both from what was given
  law,    ///< by the optimum of the law
  rule,   ///< by 20 tokens a parameter
};

using enum Variable;

constexpr std::string_view ratio_source = "Hoffmann et al. 2022, arXiv:2203.15556, table 3";

void set_derived(Solver& solver, Variable variable, double value, answer::Explanation why) {
  solver.set(variable, {value, Standing::derived, std::move(why)});
  solver.propagate();
}

void set_usual(Solver& solver, Variable variable, double value, const Usual& usual, ScaleAnswer& answer) {
  const std::string text = text_of(variable, value);
  solver.set(variable, {value, Standing::assumed, {"assumed", text, usual.source}});
  answer.assume(fmt::format("{} {}", facts(variable).label, text), usual.source);
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
  answer.assume(fmt::format("compute-optimal under the law {}", law.name), std::string(law.source));
}

void follow_rule_of_thumb(Solver& solver, ScaleAnswer& answer) {
  solver.set(ratio, {answer::compute_optimal_ratio, Standing::assumed, {"assumed", "20", std::string(ratio_source)}});
  answer.assume("compute-optimal at 20 tokens a parameter", "Hoffmann et al. 2022");
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

/// The law together with the unique tokens that are known by now.
/// \throws quantity::BadInput when the law needs them and they are not
LawChoice choice_of(ScalingLaw law, const Solver& solver) {
  if (law != ScalingLaw::data_constrained) return {law};
  if (solver.knows(unique_tokens)) return {law, solver[unique_tokens]->value};
  throw q::BadInput("law", "data-constrained needs to know how much data there is", "give unique tokens");
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

/// Which law the question is about.
/// \throws quantity::BadInput when it names one that does not go with its unique tokens
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

/// Leaves parameters, tokens and compute known, and time and cost where the question has what they need.
/// \throws quantity::BadInput when there is nothing to scale from, and when a loss cannot be reached
Closing close(const ScaleQuestion& question, const std::vector<ScaleLine>& limits, Solver& solver,
              ScaleAnswer& answer) {
  assume_price(question, solver, answer);
  if (solver.knows(gpu_time) && !solver.knows(compute)) assume_mfu(question, solver, answer);
  const auto closing = close_run(question, limits, solver, answer);
  assume_mfu(question, solver, answer);
  return closing;
}

template <class Optional, class Raw>
void give(Solver& solver, Variable variable, const Optional& value, Raw raw) {
  if (value) solver.set(variable, {static_cast<double>(raw(*value)), Standing::given, {}});
}

Solver given_values(const ScaleQuestion& question) {
  const auto itself = [](auto value) { return value; };
  const auto per_second = [](q::Money price) { return q::in_dollars(price) / q::seconds_per_hour; };
  Solver solver;
  give(solver, Variable::params, question.params, q::in_parameters);
  give(solver, Variable::tokens, question.tokens, q::in_tokens);
  give(solver, Variable::ratio, question.tokens_per_parameter, itself);
  give(solver, Variable::unique_tokens, question.unique_tokens, q::in_tokens);
  give(solver, Variable::epochs, question.epochs, itself);
  give(solver, Variable::compute, question.compute, q::in_flops);
  give(solver, Variable::gpu_time, question.gpu_time, q::in_seconds);
  give(solver, Variable::gpus, question.gpus, itself);
  give(solver, Variable::time, question.time, q::in_seconds);
  give(solver, Variable::mfu, question.mfu, itself);
  give(solver, Variable::peak, question.peak, q::in_flops_per_second);
  give(solver, Variable::price, question.price, per_second);
  give(solver, Variable::cost, question.cost, q::in_dollars);
  return solver;
}

void add_known(const Solver& solver, Variable variable, ScaleAnswer& answer) {
  const auto& known = solver[variable];
  if (!known) return;
  const auto& f = facts(variable);
  answer.lines.push_back({f.id, f.label, known->value / f.unit, f.format(known->value), known->origin, known->why});
}

void add_pflop_days(const Solver& solver, ScaleAnswer& answer) {
  const auto work = q::flops(solver[Variable::compute]->value);
  const double value = q::in_pflop_days(work);
  answer.lines.push_back(
      {"compute_pflop_days",
       "compute",
       value,
       q::format_number(value, 4) + " PFLOP-days",
       Standing::derived,
       {"compute / 8.64e19", q::format_flops(work) + " / 8.64e19", "Brown et al. 2020, arXiv:2005.14165, appendix D"}});
}

/// Adds what is repeated, where the law minds.
void add_repetition(const KnownRun& run, const Solver& solver, ScaleAnswer& answer) {
  if (run.choice.law != ScalingLaw::data_constrained) return;
  add_known(solver, Variable::unique_tokens, answer);
  add_known(solver, Variable::epochs, answer);
  if (run.split.tokens <= run.choice.unique_tokens) return;
  const double worth = effective_tokens(run.split.tokens, run.choice.unique_tokens);
  constexpr std::string_view formula = "unique tokens x (1 + 15.39 x (1 - exp(-(epochs - 1) / 15.39)))";
  const auto numbers = with_numbers(formula, {{"unique tokens", q::format_tokens(q::tokens(run.choice.unique_tokens))},
                                              {"epochs", text_of(Variable::epochs, solver[Variable::epochs]->value)}});
  answer.lines.push_back({"effective_tokens",
                          "worth in unique tokens",
                          worth,
                          q::format_tokens(q::tokens(worth)),
                          Standing::derived,
                          {std::string(formula), numbers, "Muennighoff et al. 2023, arXiv:2305.16264, equation 5"}});
}

void add_loss(const ScaleQuestion& question, const KnownRun& run, ScaleAnswer& answer) {
  if (!run.loss) {
    answer.assume(fmt::format("the law {} predicts no loss", facts(run.choice.law).name));
    return;
  }
  const auto& law = facts(run.choice.law);
  const auto text = q::format_number(*run.loss, 4) + " nats per token";
  if (question.loss) {
    answer.lines.push_back({"loss", "loss", *run.loss, text, Standing::given, {}});
    return;
  }
  const auto formula = run.optimal ? law.optimal_loss : law.formula;
  const auto numbers = with_numbers(formula, {{"params", text_of(Variable::params, run.split.params)},
                                              {"tokens", text_of(Variable::tokens, run.split.tokens)},
                                              {"compute", text_of(Variable::compute, run.split.compute())}});
  answer.lines.push_back(
      {"loss", "loss", *run.loss, text, Standing::derived, {std::string(formula), numbers, std::string(law.source)}});
}

std::string interval_text(const Interval& interval, Variable variable) {
  return fmt::format("{} to {}", text_of(variable, interval.min), text_of(variable, interval.max));
}

/// Beyond the runs that a law was fitted on, it extrapolates.
void warn_of_extrapolation(const KnownRun& run, ScaleAnswer& answer) {
  const auto& law = facts(run.choice.law);
  struct Check {
    Variable variable = Variable::params;
    Interval fitted;
    double value = 0.0;
  };
  const Check checks[] = {{Variable::params, law.params, run.split.params},
                          {Variable::tokens, law.tokens, run.split.tokens},
                          {Variable::compute, law.compute, run.split.compute()}};
  std::vector<std::string> outside;
  for (const auto& check : checks) {
    if (check.fitted.contains(check.value)) continue;
    const auto& f = facts(check.variable);
    outside.push_back(
        fmt::format("{} {}, not {}", interval_text(check.fitted, check.variable), f.label, f.format(check.value)));
  }
  if (outside.empty()) return;
  answer.warnings.push_back(
      fmt::format("the law {} was fitted on {}: this extrapolates", law.name, fmt::join(outside, ", and on ")));
}

void add_notes(const ScaleQuestion& question, const KnownRun& run, ScaleAnswer& answer) {
  const auto few = question.tokens ? answer::too_few_tokens(*question.tokens) : std::nullopt;
  if (few) answer.warnings.push_back(*few);
  if (run.choice.law == ScalingLaw::kaplan) answer.assume("kaplan counts parameters without embeddings");
  warn_of_extrapolation(run, answer);
}

KnownRun known_run(ScalingLaw law, bool optimal, const Solver& solver) {
  const auto choice = choice_of(law, solver);
  const Allocation split{solver[Variable::params]->value, solver[Variable::tokens]->value};
  if (!countable(split)) throw q::BadInput("scale", "this leaves less than one parameter or one token");
  // The loss of a compute-efficient model is not that of Kaplan's L(N, D), which trains until nothing is gained.
  const auto loss = optimal ? optimum_at(choice, split.compute()).loss : loss_of(choice, split);
  return {choice, split, loss, optimal};
}

/// Whatever the best model of a compute is made from, or a part of what makes the compute.
bool states_budget(const ScaleQuestion& question) {
  const bool machine_time = question.gpus && question.time;
  return !question.loss && (question.compute || question.gpu_time || question.cost || machine_time);
}

/// A best size that nobody built is easier to judge beside half of it and twice it.
void add_frontier(const ScaleQuestion& question, const KnownRun& run, ScaleAnswer& answer) {
  const auto& asked = question.follow_ups.frontier;
  if (asked) answer.frontier = {*asked, frontier(*asked, run), true};
  const bool shows_sizes = !asked && run.budget && facts(run.choice.law).surface;
  if (shows_sizes) answer.frontier = {Frontier::sizes, neighbours(run)};
}

}  // namespace

void ScaleAnswer::assume(std::string words, std::string source) {
  assumptions.push_back({std::move(words), std::move(source)});
}

std::string in_full(const Assumed& assumed) {
  return assumed.source.empty() ? assumed.words : fmt::format("{} ({})", assumed.words, assumed.source);
}

ScaleAnswer scale(const ScaleQuestion& question) {
  check_inference(question);
  require_positive("loss", question.loss);
  auto limits = inference_limits(question);
  ScaleAnswer answer;
  answer.law = law_of(question);
  Solver solver = given_values(question);
  solver.propagate();
  const auto closing = close(question, limits, solver, answer);
  solver.check_all_used();
  auto run = known_run(answer.law, closing == Closing::law, solver);
  run.budget = run.optimal && states_budget(question);
  for (const auto variable : {Variable::params, Variable::tokens, Variable::ratio}) add_known(solver, variable, answer);
  add_repetition(run, solver, answer);
  add_known(solver, Variable::compute, answer);
  add_pflop_days(solver, answer);
  add_loss(question, run, answer);
  for (const auto variable : {Variable::gpu_time, Variable::gpus, Variable::time, Variable::mfu, Variable::peak,
                              Variable::price, Variable::cost}) {
    add_known(solver, variable, answer);
  }
  std::ranges::move(limits, std::back_inserter(answer.lines));
  add_inference(question, run.split.params, answer);
  if (closing == Closing::given) add_optimum(run, answer);
  add_follow_ups(question.follow_ups, run, solver, answer);
  add_frontier(question, run, answer);
  add_notes(question, run, answer);
  return answer;
}

const ScaleLine* find_line(const ScaleAnswer& answer, std::string_view id) {
  return quantity::find_or_null(answer.lines, id, &ScaleLine::id);
}

}  // namespace llmcalc::laws
