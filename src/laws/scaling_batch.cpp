#include "laws/inner/hyperparameters.hpp"
#include "laws/inner/scaling_follow_ups.hpp"
#include "laws/inner/scaling_section.hpp"
#include "quantity/format.hpp"

#include <cmath>

namespace llmcalc::laws {

namespace {

namespace q = quantity;

std::string steps_text(double steps) {
  constexpr double countable_until = 1e15;
  return steps < countable_until ? q::format_count(std::llround(steps)) : q::format_number(steps, 4);
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

void add_batch(const ScaleFollowUps& asked, const KnownRun& run, ScaleAnswer& answer) {
  add_critical_batch(asked, run, answer);
  if (asked.hyperparameters) add_deepseek(run, answer);
}

}  // namespace llmcalc::laws
