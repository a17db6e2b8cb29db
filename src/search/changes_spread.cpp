#include "search/changes_spread.hpp"

#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/traits.hpp"
#include "search/changed_words.hpp"

#include <fmt/format.h>

namespace llmcalc::search {
namespace {

/// Fewer replicas make the same global batch in more micro-batches, unless the optimizer steps within each.
bool take_from_replicas(spec::Question& question, std::int64_t times) {
  auto& layout = question.layout;
  if (!frameworks::row_of(question.training.framework).space.splits_models || layout.dp % times != 0) return false;
  if (spec::updates_in_backward(question.training.optimizer)) return false;
  layout.dp /= times;
  question.training.grad_accum = quantity::product(question.training.grad_accum, times);
  return true;
}

std::string batch_flags(const spec::Question& question) {
  return fmt::format("--dp {} --grad-accum {}", question.layout.dp, question.training.grad_accum);
}

}  // namespace

bool tensor_parallel(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  if (!take_from_replicas(run.question, times)) return false;
  layout.tp = quantity::product(layout.tp, times);
  layout.sp = true;
  const std::string experts =
      run.question.model.shape.moe.experts > 0 ? fmt::format("--etp {} ", layout.etp) : std::string();
  say(run, fmt::format("--tp {} --sp 1 {}{}", layout.tp, experts, batch_flags(run.question)),
      fmt::format("each layer cut over {} accelerators", layout.tp),
      "time: exchanges inside of every layer (Korthikanti et al. 2022, arXiv:2205.05198)");
  return true;
}

bool pipeline(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  if (!take_from_replicas(run.question, times)) return false;
  layout.pp = quantity::product(layout.pp, times);
  say(run, fmt::format("--pp {} {}", layout.pp, batch_flags(run.question)),
      fmt::format("layers in {} stages", layout.pp),
      "time: stages wait for each other (Narayanan et al. 2021, arXiv:2104.04473)");
  return true;
}

}  // namespace llmcalc::search
