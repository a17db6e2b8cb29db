#include "laws/scaling.hpp"

#include "answer/run_length.hpp"
#include "laws/inner/formula_text.hpp"
#include "laws/inner/relation.hpp"
#include "laws/inner/scaling_close.hpp"
#include "laws/inner/scaling_follow_ups.hpp"
#include "laws/inner/scaling_inference.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace llmcalc::laws {

namespace {

namespace q = quantity;

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

/// What is repeated, where the law minds.
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
    answer.assumptions.push_back(fmt::format("the law {} predicts no loss", facts(run.choice.law).name));
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
  if (run.choice.law == ScalingLaw::kaplan)
    answer.assumptions.emplace_back("kaplan counts parameters without embeddings");
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
  if (asked) answer.frontier = {*asked, frontier(*asked, run)};
  const bool shows_sizes = !asked && run.budget && facts(run.choice.law).surface;
  if (shows_sizes) answer.frontier = {Frontier::sizes, neighbours(run)};
}

}  // namespace

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
