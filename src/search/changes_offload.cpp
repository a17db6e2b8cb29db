#include "frameworks/abilities.hpp"
#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "quantity/lists.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::search {
namespace {

struct Leaving {
  spec::Offload offload;
  std::string_view change;
  std::string_view cost;
};

constexpr std::string_view host_updates = "time: the host updates the weights (Ren et al. 2021, arXiv:2101.06840)";
constexpr std::string_view weights_cross =
    "time: weights cross from the host for each pass (Ren et al. 2021, arXiv:2101.06840)";

/// The least that leaves comes first.
constexpr Leaving ways[] = {
    {spec::Offload::activations, "activations wait in host memory for the backward pass",
     "time: they cross to the host and back (TransformerEngine pytorch/cpu_offload.py)"},
    {spec::Offload::optimizer, "optimizer states rest in host memory", host_updates},
    {spec::Offload::optimizer_gradients, "optimizer states and gradients rest in host memory", host_updates},
    {spec::Offload::params, "weights rest in host memory", weights_cross},
    {spec::Offload::params_optimizer, "weights and optimizer states rest in host memory", weights_cross},
};

/// What may leave in this run, of what the framework can move.
std::vector<Leaving> ways_of(const spec::Question& question) {
  const auto& can = frameworks::row_of(question.training.framework).space.offloads.span();
  std::vector<Leaving> known;
  for (const Leaving& way : ways) {
    spec::Training training = question.training;
    training.offload = way.offload;
    const bool is_legal = frameworks::broken_rule({question.model.shape, training, question.layout}) == nullptr;
    if (is_legal && quantity::contains(can, way.offload)) known.push_back(way);
  }
  return known;
}

}  // namespace

bool offload(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (training.offload != spec::Offload::none) return false;
  const auto known = ways_of(run.question);
  if (step >= known.size()) return false;
  training.offload = known[step].offload;
  say(run, {{"offload", std::string(spec::name_of(training.offload))}}, known[step].change, known[step].cost);
  return true;
}

std::size_t offloads(const spec::Question&, Larger) { return std::size(ways); }

bool spread_checkpoint(Changed& run, Larger, std::size_t step) {
  using spec::SaveCheckpoint;
  const auto* present = frameworks::saving_of(run.question);
  if (present == nullptr) return false;
  const auto way = step == 0 ? SaveCheckpoint::full_cpu : SaveCheckpoint::sharded;
  const auto& savings = frameworks::row_of(run.question.training.framework).abilities.savings;
  const bool gathers_less = step == 0 ? present->way == SaveCheckpoint::full : present->way != way;
  if (!gathers_less || !quantity::contains(savings, way, &frameworks::Saving::way)) return false;
  run.question.training.save_checkpoint = way;
  say(run, {{"save_checkpoint", std::string(spec::name_of(way))}},
      step == 0 ? "checkpoints are gathered in the first rank's host memory" : "each rank writes its own checkpoint",
      "nothing while training; sharded checkpoints are put together by a tool (torch.distributed.checkpoint)");
  return true;
}

}  // namespace llmcalc::search
