#include "laws/inner/curves.hpp"
#include "laws/inner/scaling_section.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

namespace llmcalc::laws {

namespace {

namespace q = quantity;

/// Training FLOPs that a FLOP of serving is worth.
double serving_weight(const ScaleFollowUps& asked, const Solver& solver) {
  if (!asked.serving_mfu) return 1.0;
  if (!solver.knows(Variable::mfu)) {
    throw q::BadInput("inference mfu", "is compared with the MFU of training, which is not known",
                      "give mfu, or an accelerator with a number of them");
  }
  return solver[Variable::mfu]->value / *asked.serving_mfu;
}

void add_serving_cost(double flops, const Solver& solver, Section& section) {
  if (!solver.knows(Variable::peak) || !solver.knows(Variable::mfu) || !solver.knows(Variable::price)) return;
  const auto known = [&](Variable variable) { return solver[variable]->value; };
  const double cost = flops / (known(Variable::peak) * known(Variable::mfu)) * known(Variable::price);
  section.add("serving_cost_usd", "cost of both", cost, text_of(Variable::cost, cost), "compute / (peak x MFU) x price",
              {{"compute", text_of(Variable::compute, flops)},
               {"peak", text_of(Variable::peak, known(Variable::peak))},
               {"MFU", text_of(Variable::mfu, known(Variable::mfu))},
               {"price", text_of(Variable::price, known(Variable::price))}});
}

/// GPU time of both: a FLOP of serving counts by the ratio of the two MFUs.
void add_both(std::string_view id, std::string_view label, const Allocation& split, double served, double weight,
              Section& section) {
  const double flops = lifetime_flops(split, served, weight);
  section.add(id, label, flops, text_of(Variable::compute, flops),
              fmt::format("6 x params x tokens + {:.4g} x params x served", weight * inference_flops),
              {{"params", text_of(Variable::params, split.params)},
               {"tokens", text_of(Variable::tokens, split.tokens)},
               {"served", text_of(Variable::tokens, served)}});
}

void add_serving_totals(const Allocation& best, double served, double weight, Section& section) {
  section.add("serving_training_flops", "training", best.compute(), text_of(Variable::compute, best.compute()),
              "6 x params x tokens",
              {{"params", text_of(Variable::params, best.params)}, {"tokens", text_of(Variable::tokens, best.tokens)}});
  add_both("serving_total_flops", "training and serving", best, served, weight, section);
}

void add_serving_lines(const Allocation& best, double served, double weight, const KnownRun& run, Section& section) {
  const double whole = lifetime_flops(best, served, weight);
  const double unchanged = lifetime_flops(run.split, served, weight);
  add_serving_totals(best, served, weight, section);
  add_both("serving_unchanged_flops", "the same of the run", run.split, served, weight, section);
  const double saved = at_least_none(1.0 - whole / unchanged);
  section.add("serving_saved_share", "saved", saved, q::format_percent(saved), "1 - best / unchanged",
              {{"best", text_of(Variable::compute, whole)}, {"unchanged", text_of(Variable::compute, unchanged)}});
}

/// Budget of training and serving, in the FLOPs of training.
struct Served {
  double tokens = 0.0;
  double weight = 1.0;

  double cost_of(const Allocation& split) const { return lifetime_flops(split, tokens, weight); }
};

/// The cheapest to train and serve of those that reach a loss.
Allocation best_at_loss(const KnownRun& run, double loss, const Served& served) {
  const auto tokens_for = [&](double params) { return tokens_for_loss(run.choice, params, loss); };
  return serving_optimum(tokens_for, cheapest(run, loss).params, served.tokens, served.weight);
}

/// The least loss whose cheapest model to train and serve stays within the run's compute: the loss that the law
/// promises for so much less compute than the run's, because both fall together.
double loss_within_budget(const KnownRun& run, const Served& served) {
  const double budget = run.split.compute();
  const auto loss_for = [&](double compute) { return *optimum_at(run.choice, compute).loss; };
  const auto spent = [&](double compute) { return served.cost_of(best_at_loss(run, loss_for(compute), served)); };
  constexpr double least_compute = 1e12;  // below, no model has a parameter and a token to speak of
  const double compute = crossing(spent, budget, least_compute, budget);
  constexpr double rounding = 1e-9;
  if (spent(compute) > budget * (1.0 + rounding)) {
    throw q::BadInput("inference tokens", "cost more to serve than the whole budget, by the smallest model",
                      "serve fewer, or ask for a larger budget");
  }
  return loss_for(compute);
}

/// Part of a budget that is left for training once serving is paid for.
void add_serving_within(const Served& served, const KnownRun& run, const Solver& solver, ScaleAnswer& answer) {
  const double loss = loss_within_budget(run, served);
  const auto best = best_at_loss(run, loss, served);
  Section section(ScaleSection::serving_budget, "Sardana et al. 2023, arXiv:2401.00448, with the loss of the law",
                  answer);
  const auto budget = text_of(Variable::compute, run.split.compute());
  section.add("serving_params", Variable::params, best.params, "the params of least loss for the budget",
              {{"the budget", budget}});
  section.add("serving_tokens", Variable::tokens, best.tokens, "the tokens with which params reach the loss",
              {{"params", text_of(Variable::params, best.params)}, {"the loss", loss_text(loss)}});
  section.add("serving_loss", "loss", loss, loss_text(loss), "the least loss of training and serving within the budget",
              {{"the budget", budget}});
  add_serving_totals(best, served.tokens, served.weight, section);
  add_serving_cost(served.cost_of(best), solver, section);
}

}  // namespace

void add_serving(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer) {
  const double loss = loss_on_surface(run, "inference tokens");
  const double served = q::in_tokens(*asked.served);
  const double weight = serving_weight(asked, solver);
  if (run.budget) return add_serving_within({served, weight}, run, solver, answer);
  const auto best = best_at_loss(run, loss, {served, weight});
  if (!countable(best)) throw q::BadInput("inference tokens", "lead to a model that nobody can build", "serve fewer");
  Section section(ScaleSection::serving, "Sardana et al. 2023, arXiv:2401.00448, with the loss of the law", answer);
  section.add("serving_params", Variable::params, best.params, "the params of least compute at the loss",
              {{"the loss", loss_text(loss)}});
  section.add("serving_tokens", Variable::tokens, best.tokens, "the tokens with which params reach the loss",
              {{"params", text_of(Variable::params, best.params)}, {"the loss", loss_text(loss)}});
  add_serving_lines(best, served, weight, run, section);
  add_serving_cost(lifetime_flops(best, served, weight), solver, section);
}

}  // namespace llmcalc::laws
