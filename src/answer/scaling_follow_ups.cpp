#include "answer/scaling_follow_ups.hpp"

#include "answer/formula_text.hpp"
#include "answer/hyperparameters.hpp"
#include "answer/serving.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::answer {

namespace {

namespace q = quantity;

constexpr int digits = 4;

using Numbers = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Adds the lines of one section.
class Section {
 public:
  Section(ScaleSection section, std::string_view source, ScaleAnswer& answer)
      : section_(section), source_(source), answer_(answer) {}

  /// \param numbers  what stands for the words of the formula
  void add(std::string_view id, std::string_view label, double value, std::string text, std::string_view formula,
           Numbers numbers = {}) {
    if (!std::isfinite(value)) throw q::BadInput("scale", fmt::format("'{}' is beyond counting", label));
    std::string worked = numbers.size() == 0 ? std::string() : with_numbers(formula, numbers);
    answer_.lines.push_back({id,
                             label,
                             value,
                             std::move(text),
                             Origin::derived,
                             {std::string(formula), std::move(worked), source_},
                             section_});
  }

  /// A line in the unit and form of a variable.
  void add(std::string_view id, Variable variable, double value, std::string_view formula, Numbers numbers = {}) {
    const auto& f = facts(variable);
    add(id, f.label, value / f.unit, f.format(value), formula, numbers);
  }

 private:
  ScaleSection section_;
  std::string source_;
  ScaleAnswer& answer_;
};

std::string text_of(Variable variable, double value) { return facts(variable).format(value); }

std::string loss_text(double loss) { return q::format_number(loss, digits) + " nats per token"; }

std::string steps_text(double steps) {
  constexpr double countable_until = 1e15;
  return steps < countable_until ? q::format_count(std::llround(steps)) : q::format_number(steps, digits);
}

/// A share that is below 0 by no more than rounding, where there is nothing to gain.
double at_least_none(double share) { return std::max(0.0, share); }

/// Comparing runs of equal loss needs a law whose optimum and loss are one surface.
double loss_on_surface(const KnownRun& run, std::string_view asker) {
  const auto& law = facts(run.choice.law);
  if (law.surface) return *run.loss;
  throw q::BadInput(std::string(asker), fmt::format("the law {} cannot compare runs of equal loss", law.name),
                    "the laws chinchilla and data-constrained can");
}

/// The split of least compute for the loss of the run, which is at most the run's own.
Allocation cheapest(const KnownRun& run, double loss) {
  const double work = run.split.compute();
  return optimum_at(run.choice, std::min(work, compute_for_loss(run.choice, loss).value_or(work))).split;
}

void add_smaller(double times, const KnownRun& run, ScaleAnswer& answer) {
  const double loss = loss_on_surface(run, "smaller");
  if (!(times > 1.0)) throw q::BadInput("smaller", fmt::format("{:.4g} is not above 1", times));
  const auto best = cheapest(run, loss);
  const double params = best.params / times;
  const auto tokens = tokens_for_loss(run.choice, params, loss);
  if (!tokens || !countable({params, *tokens})) {
    throw q::BadInput("smaller",
                      fmt::format("{} parameters do not reach a loss of {:.4g} on any amount of data",
                                  text_of(Variable::params, params), loss),
                      "ask for a model fewer times smaller");
  }
  const Allocation smaller{params, *tokens};
  const double extra = at_least_none(smaller.compute() / best.compute() - 1.0);
  const std::string small = text_of(Variable::params, params);
  Section section(ScaleSection::smaller, facts(run.choice.law).source, answer);
  section.add("smaller_params", Variable::params, params, "best params for this loss / times",
              {{"best params for this loss", text_of(Variable::params, best.params)},
               {"times", q::format_number(times, digits)}});
  section.add("smaller_tokens", Variable::tokens, *tokens, "the tokens with which params reach the loss",
              {{"params", small}, {"the loss", loss_text(loss)}});
  section.add("smaller_compute_flops", Variable::compute, smaller.compute(), "6 x params x tokens",
              {{"params", small}, {"tokens", text_of(Variable::tokens, *tokens)}});
  section.add("smaller_extra_compute_share", "extra compute", extra, q::format_percent(extra),
              "compute / least compute - 1",
              {{"least compute", text_of(Variable::compute, best.compute())},
               {"compute", text_of(Variable::compute, smaller.compute())}});
}

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

void add_critical_batch(const ScaleFollowUps& asked, const KnownRun& run, ScaleAnswer& answer) {
  const double work = run.split.compute();
  const double critical = critical_batch(work);
  Section section(ScaleSection::batch,
                  "Kaplan et al. 2020, arXiv:2001.08361, equations 1.3 and 1.4; McCandlish et al. 2018, "
                  "arXiv:1812.06162",
                  answer);
  section.add("critical_batch_tokens", "critical batch", critical, text_of(Variable::tokens, critical) + " tokens",
              "2.1e8 / ((3.1e8 / (compute / 8.64e19))^0.05)^(1 / 0.21)",
              {{"compute", text_of(Variable::compute, work)}});
  if (!asked.batch) return;
  const double batch = q::in_tokens(*asked.batch);
  const auto price = batch_price(batch, critical);
  const double steps = run.split.tokens * price.data / batch;
  const Numbers numbers = {{"critical batch", text_of(Variable::tokens, critical)},
                           {"batch", text_of(Variable::tokens, batch)},
                           {"tokens", text_of(Variable::tokens, run.split.tokens)}};
  section.add("batch_extra_data_share", "extra data with this batch", price.data - 1.0,
              q::format_percent(price.data - 1.0), "batch / critical batch", numbers);
  section.add("batch_extra_steps_share", "extra steps with this batch", price.steps - 1.0,
              q::format_percent(price.steps - 1.0), "critical batch / batch", numbers);
  section.add("batch_steps", "steps", steps, steps_text(steps), "tokens x (1 + batch / critical batch) / batch",
              numbers);
}

void add_deepseek(const KnownRun& run, ScaleAnswer& answer) {
  const double work = run.split.compute();
  if (!deepseek_fitted.contains(work)) {
    answer.warnings.emplace_back(
        "DeepSeek's batch and learning rate were fitted on 1e17 to 2e19 FLOP: this extrapolates");
  }
  const double batch = deepseek_batch(work);
  const double rate = deepseek_learning_rate(work);
  Section section(ScaleSection::batch, "DeepSeek-AI 2024, arXiv:2401.02954, equation 1", answer);
  section.add("deepseek_batch_tokens", "DeepSeek's batch", batch, text_of(Variable::tokens, batch) + " tokens",
              "0.2920 x compute^0.3271", {{"compute", text_of(Variable::compute, work)}});
  section.add("deepseek_learning_rate", "DeepSeek's learning rate", rate, q::format_number(rate, 3),
              "0.3118 x compute^-0.1250", {{"compute", text_of(Variable::compute, work)}});
}

}  // namespace

bool countable(const Allocation& split) {
  return split.params >= 1.0 && split.params < facts(Variable::params).max && split.tokens >= 1.0 &&
         split.tokens < facts(Variable::tokens).max;
}

void add_optimum(const KnownRun& run, ScaleAnswer& answer) {
  const auto& law = facts(run.choice.law);
  const double work = run.split.compute();
  const auto best = optimum_at(run.choice, work);
  if (!countable(best.split)) return;
  const std::string compute = text_of(Variable::compute, work);
  const std::string params = text_of(Variable::params, best.split.params);
  const std::string tokens = text_of(Variable::tokens, best.split.tokens);
  Section section(ScaleSection::optimum, law.source, answer);
  section.add("optimal_params", Variable::params, best.split.params, law.optimal_params, {{"compute", compute}});
  section.add("optimal_tokens", Variable::tokens, best.split.tokens, "compute / (6 x params)",
              {{"compute", compute}, {"params", params}});
  if (best.loss) {
    section.add("optimal_loss", "loss", *best.loss, loss_text(*best.loss), law.optimal_loss,
                {{"compute", compute}, {"params", params}, {"tokens", tokens}});
  }
  if (!law.surface) return;
  const double least = cheapest(run, *run.loss).compute();
  const double extra = at_least_none(work / least - 1.0);
  section.add("least_compute_flops", "least compute for the run's loss", least, text_of(Variable::compute, least),
              "the compute of which the run's loss is the best", {{"the run's loss", loss_text(*run.loss)}});
  section.add("extra_compute_share", "extra compute of the run", extra, q::format_percent(extra),
              "compute / least compute - 1",
              {{"least compute", text_of(Variable::compute, least)}, {"compute", compute}});
}

void add_follow_ups(const ScaleFollowUps& asked, const KnownRun& run, const Solver& solver, ScaleAnswer& answer) {
  const auto raw = [](const auto& value) { return value ? std::optional(q::in_tokens(*value)) : std::nullopt; };
  require_positive("smaller", asked.smaller);
  require_positive("inference tokens", raw(asked.served));
  require_positive("inference mfu", asked.serving_mfu);
  require_positive("batch", raw(asked.batch));
  if (asked.serving_mfu && !asked.served) {
    throw q::BadInput("inference mfu", "belongs to inference tokens", "say how many tokens will be served");
  }
  if (asked.smaller) add_smaller(*asked.smaller, run, answer);
  if (asked.served) add_serving(asked, run, solver, answer);
  if (asked.batch || asked.hyperparameters) add_critical_batch(asked, run, answer);
  if (asked.hyperparameters) add_deepseek(run, answer);
}

}  // namespace llmcalc::answer
