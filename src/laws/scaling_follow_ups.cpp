#include "laws/inner/scaling_follow_ups.hpp"

#include "laws/inner/scaling_section.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::laws {

namespace {

namespace q = quantity;

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

}  // namespace llmcalc::laws
