#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

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

/// The batch as it is made by the replicas that are left.
std::vector<ChangedTerm> with_batch(std::vector<ChangedTerm> terms, const spec::Question& question) {
  terms.push_back({"dp", std::to_string(question.layout.dp)});
  terms.push_back({"grad_accum", std::to_string(question.training.grad_accum)});
  return terms;
}

}  // namespace

bool sequence_parallel(Changed& run, Larger, std::size_t step) {
  auto& layout = run.question.layout;
  const auto& splits = frameworks::row_of(run.question.training.framework).abilities.splits;
  if (step > 0 || layout.tp == 1 || layout.sp || !splits.has(frameworks::Parallelism::sequence)) return false;
  layout.sp = true;
  say(run, {{"sp", "1"}}, "norms, dropout and what they keep cut along the sequence",
      "little: the same traffic, as gathers and scatters (Korthikanti et al. 2022, arXiv:2205.05198 section 4.2)");
  return true;
}

bool tensor_parallel(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  if (!take_from_replicas(run.question, times)) return false;
  layout.tp = quantity::product(layout.tp, times);
  layout.sp = true;
  std::vector<ChangedTerm> terms{{"tp", std::to_string(layout.tp)}, {"sp", "1"}};
  if (run.question.model.shape.moe.experts > 0) terms.push_back({"etp", std::to_string(layout.etp)});
  say(run, with_batch(std::move(terms), run.question), fmt::format("each layer cut over {} accelerators", layout.tp),
      "time: exchanges inside of every layer (Korthikanti et al. 2022, arXiv:2205.05198)");
  return true;
}

bool expert_parallel(Changed& run, Larger, std::size_t step) {
  const auto& row = frameworks::row_of(run.question.training.framework);
  const std::int64_t experts = run.question.model.shape.moe.experts;
  auto& layout = run.question.layout;
  const std::int64_t ep = quantity::product(layout.ep, std::int64_t{2} << step);
  const bool can = row.space.splits_models && row.abilities.splits.has(frameworks::Parallelism::experts);
  if (!can || experts == 0 || experts % ep != 0) return false;
  layout.ep = ep;
  say(run, {{"ep", std::to_string(ep)}, {"etp", std::to_string(layout.etp)}},
      fmt::format("experts spread over {} accelerators", ep),
      "time: tokens travel to their experts and back (Lepikhin et al. 2020, arXiv:2006.16668)");
  return true;
}

bool pipeline(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  if (!take_from_replicas(run.question, times)) return false;
  layout.pp = quantity::product(layout.pp, times);
  say(run, with_batch({{"pp", std::to_string(layout.pp)}}, run.question), fmt::format("layers in {} stages", layout.pp),
      "time: stages wait for each other (Narayanan et al. 2021, arXiv:2104.04473)");
  return true;
}

}  // namespace llmcalc::search
