// Changes to how states are sharded, and to the accelerators that they are sharded over.
#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"
#include "spec/layout_rules.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::search {

namespace {

struct ShardingStage {
  spec::Sharding sharding;
  std::string_view change;
  std::string_view cost;
};

constexpr std::string_view no_more_traffic =
    "nothing: as much communication as before (Rajbhandari et al. 2020 section 7)";
constexpr std::string_view more_traffic = "1.5 times the communication (Rajbhandari et al. 2020 section 7)";

constexpr ShardingStage stages[sharding_stages] = {
    {spec::Sharding::zero1, "optimizer states spread over the data-parallel ranks", no_more_traffic},
    {spec::Sharding::zero2, "gradients spread as well", no_more_traffic},
    {spec::Sharding::zero3, "weights spread as well, gathered layer by layer", more_traffic},
    {spec::Sharding::fsdp2, "weights spread as well, gathered layer by layer", more_traffic},
};

/// What the framework can shard in this layout, weakest first: all that a search tries but plain replication.
std::vector<ShardingStage> stages_of(const spec::Question& question) {
  std::vector<ShardingStage> known;
  for (const spec::Sharding sharding : frameworks::row_of(question.training.framework).space.shardings) {
    const auto* stage = quantity::find_or_null(stages, sharding, &ShardingStage::sharding);
    spec::Layout layout = question.layout;
    layout.sharding = sharding;
    const bool is_legal = frameworks::broken_rule({question.model.shape, question.training, layout}) == nullptr;
    if (stage != nullptr && is_legal) known.push_back(*stage);
  }
  return known;
}

ChangedTerm sharding_term(const spec::Question& question) {
  return {"sharding", std::string(spec::name_of(question.layout.sharding))};
}

void settle_nodes(spec::Question& question) {
  question.layout.nodes = spec::usual_nodes(question.layout.gpus, spec::accelerators_per_node(question.gpu));
}

/// The accelerators, with their number where there are several.
std::vector<ChangedTerm> accelerator_terms(const spec::Question& question) {
  std::vector<ChangedTerm> terms;
  if (question.gpu) terms.push_back({"gpu", question.gpu->id});
  if (!question.gpu || question.layout.gpus > 1) terms.push_back({"gpus", std::to_string(question.layout.gpus)});
  return terms;
}

}  // namespace

bool shard(Changed& run, Larger, std::size_t step) {
  auto& layout = run.question.layout;
  const auto known = stages_of(run.question);
  if (layout.dp * layout.cp == 1 || step >= known.size()) return false;
  const ShardingStage& stage = known[step];
  if (spec::zero_stage(stage.sharding) <= spec::zero_stage(layout.sharding)) return false;
  layout.sharding = stage.sharding;
  say(run, {sharding_term(run.question)}, stage.change, stage.cost);
  return true;
}

bool more_accelerators(Changed& run, Larger, std::size_t step) {
  auto& layout = run.question.layout;
  if (step >= doublings || run.question.training.optimizer == spec::Optimizer::none) return false;
  const std::int64_t times = std::int64_t{2} << step;
  const auto known = stages_of(run.question);
  layout.gpus = quantity::product(layout.gpus, times);
  layout.dp = quantity::product(layout.dp, times);
  const auto strongest = known.empty() ? layout.sharding : known.back().sharding;
  if (spec::zero_stage(strongest) > spec::zero_stage(layout.sharding)) layout.sharding = strongest;
  settle_nodes(run.question);
  auto& training = run.question.training;
  training.global_batch = quantity::product(training.micro_batch, training.grad_accum, layout.dp);
  auto terms = accelerator_terms(run.question);
  terms.push_back({"dp", std::to_string(layout.dp)});
  terms.push_back({"global_batch", std::to_string(training.global_batch)});
  terms.push_back(sharding_term(run.question));
  say(run, terms, fmt::format("sharded over {} accelerators", layout.gpus),
      fmt::format("{} times the accelerators, and their communication", times));
  return true;
}

bool next_accelerator(Changed& run, Larger larger, std::size_t step) {
  if (step >= larger.size() || run.question.pricing.memory) return false;
  run.question.gpu = larger[step];
  settle_nodes(run.question);
  const auto& gpu = *run.question.gpu;
  const std::string price = gpu.price_per_hour ? quantity::format_money(*gpu.price_per_hour) + " an hour each"
                                               : std::string("another machine, at an unknown price");
  say(run, accelerator_terms(run.question), fmt::format("{}, {}", gpu.name, quantity::format_gib(gpu.memory_usable)),
      "money: " + price);
  return true;
}

std::size_t larger_accelerators(const spec::Question&, Larger larger) { return larger.size(); }

}  // namespace llmcalc::search
