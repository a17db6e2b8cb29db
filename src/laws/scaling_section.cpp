// Lines of an answer, and those of serving what is trained.
#include "laws/inner/scaling_section.hpp"

#include "laws/inner/curves.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::laws {

namespace q = quantity;

void Section::add(std::string_view id, std::string_view label, double value, std::string text, std::string_view formula,
                  Numbers numbers) {
  if (!std::isfinite(value)) throw quantity::BadInput("scale", fmt::format("'{}' is beyond counting", label));
  std::string worked = numbers.size() == 0 ? std::string() : with_numbers(formula, numbers);
  answer_.lines.push_back({id,
                           label,
                           value,
                           std::move(text),
                           Standing::derived,
                           {std::string(formula), std::move(worked), source_},
                           section_});
}

void Section::add(std::string_view id, Variable variable, double value, std::string_view formula, Numbers numbers) {
  const auto& f = facts(variable);
  add(id, f.label, value / f.unit, f.format(value), formula, numbers);
}

std::string loss_text(double loss) { return quantity::format_number(loss, 4) + " nats per token"; }

double at_least_none(double share) { return std::max(0.0, share); }

namespace {

/// A run takes a step, however large its batch.
std::string steps_text(double steps) {
  constexpr double countable_until = 1e15;
  return steps < countable_until ? q::format_count(std::max(1LL, std::llround(steps))) : q::format_number(steps, 4);
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

/// Batch size and learning rate (scaling_batch.cpp).
void add_batch(const ScaleFollowUps& asked, const KnownRun& run, ScaleAnswer& answer) {
  add_critical_batch(asked, run, answer);
  if (asked.hyperparameters) add_deepseek(run, answer);
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
  section.add(
      "smaller_params", Variable::params, params, "best params for this loss / times",
      {{"best params for this loss", text_of(Variable::params, best.params)}, {"times", q::format_number(times, 4)}});
  section.add("smaller_tokens", Variable::tokens, *tokens, "the tokens with which params reach the loss",
              {{"params", small}, {"the loss", loss_text(loss)}});
  section.add("smaller_compute_flops", Variable::compute, smaller.compute(), "6 x params x tokens",
              {{"params", small}, {"tokens", text_of(Variable::tokens, *tokens)}});
  section.add("smaller_extra_compute_share", "extra compute", extra, q::format_percent(extra),
              "compute / least compute - 1",
              {{"least compute", text_of(Variable::compute, best.compute())},
               {"compute", text_of(Variable::compute, smaller.compute())}});
}

}  // namespace

double loss_on_surface(const KnownRun& run, std::string_view asker) {
  const auto& law = facts(run.choice.law);
  if (law.surface) return *run.loss;
  throw q::BadInput(std::string(asker), fmt::format("the law {} cannot compare runs of equal loss", law.name),
                    "the laws chinchilla and data-constrained can");
}

Allocation cheapest(const KnownRun& run, double loss) {
  const double work = run.split.compute();
  return optimum_at(run.choice, std::min(work, compute_for_loss(run.choice, loss).value_or(work))).split;
}

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
  if (asked.batch || asked.hyperparameters) add_batch(asked, run, answer);
}

namespace {

constexpr std::string_view decode_bound = "roofline of decoding one sequence: each weight is read once a token";

double bytes_per_weight(const ScaleQuestion& question) { return q::in_bits_per_element(*question.weight) / 8.0; }

std::string weight_text(const ScaleQuestion& question) {
  return q::format_number(bytes_per_weight(question), 6) + " B";
}

ScaleLine parameter_line(std::string_view id, std::string_view label, double value, answer::Explanation why) {
  if (!(value < facts(Variable::params).max)) throw q::BadInput("params", fmt::format("{:.4g} are too many", value));
  const double whole = std::floor(value);
  return {id, label, whole, text_of(Variable::params, whole), Standing::derived, std::move(why)};
}

}  // namespace

void check_inference(const ScaleQuestion& question) {
  const auto raw = [](const auto& value, auto in_unit) {
    return value ? std::optional<double>(static_cast<double>(in_unit(*value))) : std::nullopt;
  };
  require_positive("weight", raw(question.weight, q::in_bits_per_element));
  require_positive("memory", raw(question.memory, q::in_bytes));
  require_positive("decode rate", question.decode_rate);
  require_positive("bandwidth", raw(question.bandwidth, q::in_bytes_per_second));
  if (question.memory && !question.weight) {
    throw q::BadInput("memory", "how many weights it holds depends on their width", "give the dtype of the weights");
  }
  if (question.decode_rate && !(question.weight && question.bandwidth)) {
    throw q::BadInput("decode rate", "it needs the width of the weights and the bandwidth of the memory they are in",
                      "give the dtype of the weights and an accelerator or a bandwidth");
  }
}

std::vector<ScaleLine> inference_limits(const ScaleQuestion& question) {
  std::vector<ScaleLine> limits;
  if (question.memory) {
    const double most = static_cast<double>(q::in_bytes(*question.memory)) / bytes_per_weight(question);
    limits.push_back(parameter_line(
        "largest_in_memory_params", "largest model in this memory", most,
        {"memory / bytes of a weight", q::format_gib(*question.memory) + " / " + weight_text(question), "definition"}));
  }
  if (question.decode_rate) {
    const double most =
        q::in_bytes_per_second(*question.bandwidth) / (*question.decode_rate * bytes_per_weight(question));
    limits.push_back(parameter_line("largest_at_speed_params", "largest model at this speed", most,
                                    {"bandwidth / (tokens per second x bytes of a weight)",
                                     fmt::format("{} / ({} x {})", q::format_bandwidth(*question.bandwidth),
                                                 q::format_number(*question.decode_rate, 4), weight_text(question)),
                                     std::string(decode_bound)}));
  }
  return limits;
}

void add_inference(const ScaleQuestion& question, double params, ScaleAnswer& answer) {
  if (!question.weight) return;
  const double weights = params * bytes_per_weight(question);
  const std::string product = text_of(Variable::params, params) + " x " + weight_text(question);
  answer.lines.push_back({"weights_bytes",
                          "weights at inference",
                          weights,
                          q::format_number(weights / q::giga, 4) + " GB",
                          Standing::derived,
                          {"params x bytes of a weight", product, "definition"}});
  answer.assume("inference counts the weights alone: no KV cache, no activations, no runtime");
  if (!question.bandwidth || question.decode_rate) return;
  const double rate = q::in_bytes_per_second(*question.bandwidth) / weights;
  answer.lines.push_back(
      {"decode_tokens_per_s",
       "decoding at most",
       rate,
       q::format_number(rate, 4) + " tokens/s",
       Standing::derived,
       {"bandwidth / (params x bytes of a weight)", q::format_bandwidth(*question.bandwidth) + " / (" + product + ")",
        std::string(decode_bound)}});
}

namespace {

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
