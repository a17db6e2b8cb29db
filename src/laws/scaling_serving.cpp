#include "laws/scaling_follow_ups.hpp"
#include "laws/scaling_section.hpp"
#include "laws/serving.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/format.hpp"

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

void add_serving_lines(const Allocation& best, double served, double weight, const KnownRun& run, Section& section) {
  const double whole = lifetime_flops(best, served, weight);
  const double unchanged = lifetime_flops(run.split, served, weight);
  // In GPU time a FLOP of serving counts by the ratio of the two MFUs.
  const auto both = fmt::format("6 x params x tokens + {:.4g} x params x served", weight * inference_flops);
  const auto add_both = [&](std::string_view id, std::string_view label, const Allocation& split, double value) {
    section.add(id, label, value, text_of(Variable::compute, value), both,
                {{"params", text_of(Variable::params, split.params)},
                 {"tokens", text_of(Variable::tokens, split.tokens)},
                 {"served", text_of(Variable::tokens, served)}});
  };
  section.add("serving_training_flops", "training", best.compute(), text_of(Variable::compute, best.compute()),
              "6 x params x tokens",
              {{"params", text_of(Variable::params, best.params)}, {"tokens", text_of(Variable::tokens, best.tokens)}});
  add_both("serving_total_flops", "training and serving", best, whole);
  add_both("serving_unchanged_flops", "the same of the run", run.split, unchanged);
  const double saved = at_least_none(1.0 - whole / unchanged);
  section.add("serving_saved_share", "saved", saved, q::format_percent(saved), "1 - best / unchanged",
              {{"best", text_of(Variable::compute, whole)}, {"unchanged", text_of(Variable::compute, unchanged)}});
}

}  // namespace

void add_serving(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer) {
  const double loss = loss_on_surface(run, "inference tokens");
  const double served = q::in_tokens(*asked.served);
  const double weight = serving_weight(asked, solver);
  const auto tokens_for = [&](double params) { return tokens_for_loss(run.choice, params, loss); };
  const auto best = serving_optimum(tokens_for, cheapest(run, loss).params, served, weight);
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
