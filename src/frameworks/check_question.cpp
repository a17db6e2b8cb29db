#include "frameworks/check_question.hpp"

#include "frameworks/layout_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace llmcalc::frameworks {
namespace {

using quantity::BadInput;

struct Count {
  std::string_view term;
  std::int64_t value;
};

/// Everything that something is divided by, or of which nothing would be left.
void check_counts(const spec::Question& question) {
  const spec::Training& t = question.training;
  const spec::Layout& l = question.layout;
  const Count counts[] = {{"seq", t.seq},
                          {"micro_batch", t.micro_batch},
                          {"grad_accum", t.grad_accum},
                          {"global_batch", t.global_batch},
                          {"recompute", t.recompute.count},
                          {"gpus", l.gpus},
                          {"nodes", l.nodes},
                          {"dp", l.dp},
                          {"tp", l.tp},
                          {"pp", l.pp},
                          {"vpp", l.vpp},
                          {"cp", l.cp},
                          {"ep", l.ep},
                          {"etp", l.etp}};
  for (const Count& count : counts) {
    if (count.value < 1) throw BadInput(std::string(count.term), fmt::format("{} is less than 1", count.value));
  }
}

void check_products(const spec::Question& question) {
  const spec::Layout& l = question.layout;
  if (quantity::product(l.dp, l.tp, l.pp, l.cp) == l.gpus) return;
  throw BadInput("gpus", fmt::format("{} are not dp x tp x pp x cp", l.gpus));
}

void check_rates(const spec::Question& question) {
  const auto& mfu = question.pricing.mfu;
  if (mfu && !(*mfu > 0.0 && *mfu <= 1.0)) throw BadInput("mfu", fmt::format("{} is no share above 0", *mfu));
  const auto& ratio = question.runtime.reserved_ratio;
  if (ratio && !(*ratio >= 1.0 && std::isfinite(*ratio))) {
    throw BadInput("reserved_ratio", fmt::format("{} is less than 1", *ratio));
  }
}

/// Without them nothing has a speed.
void check_accelerator(const spec::Question& question) {
  if (!question.gpu || question.gpu->rates.known()) return;
  throw BadInput("gpu", "no rates were looked up for '" + question.gpu->id + "'", "read::Catalogue::add_rates");
}

void check_layout(const spec::Question& question) {
  const auto* rule = broken_rule({question.model.shape, question.training, question.layout});
  if (rule == nullptr) return;
  throw BadInput(std::string(rule->term), fmt::format("contradicts {}: {}", rule->other, rule->why),
                 std::string(rule->hint));
}

}  // namespace

void check_question(const spec::Question& question) {
  if (question.model.layers.empty()) throw BadInput("layers", "the model was not built", "spec::build_model(shape)");
  check_counts(question);
  check_products(question);
  check_rates(question);
  check_accelerator(question);
  check_layout(question);
}

}  // namespace llmcalc::frameworks
