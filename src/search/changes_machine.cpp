// Changes to how states are sharded, and to the accelerators that they are sharded over.

#include "frameworks/abilities.hpp"
#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "search/inner/changes.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::search {

namespace {

struct ShardingStage {
  spec::Sharding sharding;
  std::string_view change;
  std::string_view cost;
  bool of_samples = false;  ///< in the place of ZeRO-3, which trainers take apart to make samples
};

constexpr std::string_view no_more_traffic =
    "nothing: as much communication as before (Rajbhandari et al. 2020 section 7)";
constexpr std::string_view more_traffic = "1.5 times the communication (Rajbhandari et al. 2020 section 7)";

constexpr ShardingStage stages[] = {
    {spec::Sharding::zero1, "optimizer states spread over the data-parallel ranks", no_more_traffic},
    {spec::Sharding::zero2, "gradients spread as well", no_more_traffic},
    {spec::Sharding::zero3, "weights spread as well, gathered layer by layer", more_traffic},
    {spec::Sharding::fsdp2, "weights spread as well, gathered layer by layer", more_traffic},
    {spec::Sharding::fsdp2, "weights gathered layer by layer for samples too, where ZeRO-3's are all at once",
     "time where the trainer generates by itself: each token gathers them", true},
};

/// Whether the framework can shard so in this layout, and tries to in a search.
bool can_shard(const spec::Question& question, spec::Sharding sharding) {
  spec::Layout layout = question.layout;
  layout.sharding = sharding;
  return quantity::contains(frameworks::row_of(question.training.framework).space.shardings.span(), sharding) &&
         frameworks::broken_rule({question.model.shape, question.training, layout}) == nullptr;
}

spec::Word sharding_term(const spec::Question& question) {
  return {"sharding", std::string(spec::name_of(question.layout.sharding))};
}

void settle_nodes(spec::Question& question) {
  question.layout.nodes = spec::usual_nodes(question.layout.gpus, spec::accelerators_per_node(question.gpu));
}

/// The accelerators, with their number where there are several.
std::vector<spec::Word> accelerator_terms(const spec::Question& question) {
  std::vector<spec::Word> terms;
  if (question.gpu) terms.push_back({"gpu", question.gpu->id});
  if (!question.gpu || question.layout.gpus > 1) terms.push_back({"gpus", std::to_string(question.layout.gpus)});
  return terms;
}

bool shard(Changed& run, const ShardingStage& stage) {
  auto& layout = run.question.layout;
  const bool leaves_zero3 = layout.sharding == spec::Sharding::zero3 && run.question.training.makes_samples();
  const bool shards_more =
      stage.of_samples ? leaves_zero3 : spec::zero_stage(stage.sharding) > spec::zero_stage(layout.sharding);
  if (layout.dp * layout.cp == 1 || !shards_more || !can_shard(run.question, stage.sharding)) return false;
  layout.sharding = stage.sharding;
  say(run, {sharding_term(run.question)}, stage.change, stage.cost);
  return true;
}

}  // namespace

bool shard_states(Changed& run, Larger, std::size_t step) { return shard(run, stages[step]); }
bool shard_weights(Changed& run, Larger, std::size_t step) { return shard(run, stages[2 + step]); }

/// Cards on a desk are as many as it holds.
std::size_t doublings(const spec::Question& question, Larger) {
  constexpr std::size_t most = 10;
  if (question.training.optimizer == spec::Optimizer::none) return 0;
  const auto& gpu = question.gpu;
  if (!gpu || gpu->network_gbps) return most;
  std::size_t count = 0;
  for (auto gpus = question.layout.gpus; gpus <= spec::accelerators_per_node(gpu) / 2 && count < most; gpus *= 2)
    ++count;
  return count;
}

bool more_accelerators(Changed& run, Larger, std::size_t step) {
  auto& layout = run.question.layout;
  const std::int64_t times = std::int64_t{2} << step;
  const std::int64_t gpus = quantity::product(layout.gpus, times);
  const auto* strongest = quantity::find_last_if_or_null(
      stages, [&](const ShardingStage& stage) { return can_shard(run.question, stage.sharding); });
  layout.gpus = gpus;
  layout.dp = quantity::product(layout.dp, times);
  const bool shards_more =
      strongest != nullptr && spec::zero_stage(strongest->sharding) > spec::zero_stage(layout.sharding);
  if (shards_more) layout.sharding = strongest->sharding;
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
  run.question.gpu = *larger[step];
  settle_nodes(run.question);
  const auto& gpu = *run.question.gpu;
  const std::string price = gpu.price_per_hour ? quantity::format_money(*gpu.price_per_hour) + " an hour each"
                                               : std::string("another machine, at an unknown price");
  say(run, accelerator_terms(run.question), fmt::format("{}, {}", gpu.name, quantity::format_gib(gpu.memory_usable)),
      "money: " + price);
  return true;
}

std::size_t larger_accelerators(const spec::Question&, Larger larger) { return larger.size(); }

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

}  // namespace

bool offload(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const Leaving& way = ways[step];
  const auto can = frameworks::row_of(training.framework).space.offloads.span();
  if (training.offload != spec::Offload::none || !quantity::contains(can, way.offload)) return false;
  training.offload = way.offload;
  if (frameworks::broken_rule({run.question.model.shape, training, run.question.layout}) != nullptr) {
    training.offload = spec::Offload::none;
    return false;
  }
  say(run, {{"offload", std::string(spec::name_of(way.offload))}}, way.change, way.cost);
  return true;
}

std::size_t offloads(const spec::Question&, Larger) { return std::size(ways); }

bool spread_checkpoint(Changed& run, Larger, std::size_t step) {
  using spec::SaveCheckpoint;
  const auto* present = frameworks::saving_of(run.question);
  if (present == nullptr) return false;
  const auto way = step == 0 ? SaveCheckpoint::full_cpu : SaveCheckpoint::sharded;
  const auto& savings = frameworks::row_of(run.question.training.framework).savings;
  const bool gathers_less = step == 0 ? present->way == SaveCheckpoint::full : present->way != way;
  if (!gathers_less || !quantity::contains(savings, way, &frameworks::Saving::way)) return false;
  run.question.training.save_checkpoint = way;
  say(run, {{"save_checkpoint", std::string(spec::name_of(way))}},
      step == 0 ? "checkpoints are gathered in the first rank's host memory" : "each rank writes its own checkpoint",
      "nothing while training; sharded checkpoints are put together by a tool (torch.distributed.checkpoint)");
  return true;
}

namespace {

/// Fewer replicas make the same global batch in more micro-batches, unless the optimizer steps within each.
bool take_from_replicas(spec::Question& question, std::int64_t times) {
  auto& layout = question.layout;
  if (layout.dp % times != 0 || spec::updates_in_backward(question.training.optimizer)) return false;
  layout.dp /= times;
  question.training.grad_accum = quantity::product(question.training.grad_accum, times);
  return true;
}

/// The batch as it is made by the replicas that are left.
std::vector<spec::Word> with_batch(std::vector<spec::Word> terms, const spec::Question& question) {
  terms.push_back({"dp", std::to_string(question.layout.dp)});
  terms.push_back({"grad_accum", std::to_string(question.training.grad_accum)});
  return terms;
}

}  // namespace

bool sequence_parallel(Changed& run, Larger, std::size_t) {
  auto& layout = run.question.layout;
  if (layout.tp == 1 || layout.sp) return false;
  layout.sp = true;
  say(run, {{"sp", "1"}}, "norms, dropout and what they keep cut along the sequence",
      "little: the same traffic, as gathers and scatters (Korthikanti et al. 2022, arXiv:2205.05198 section 4.2)");
  return true;
}

bool context_parallel(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  if (!take_from_replicas(run.question, times)) return false;
  layout.cp = quantity::product(layout.cp, times);
  say(run, with_batch({{"cp", std::to_string(layout.cp)}}, run.question),
      fmt::format("each sequence cut over {} accelerators", layout.cp),
      "time: keys and values, or heads, travel between them (Liu et al. 2023, arXiv:2310.01889)");
  return true;
}

bool tensor_parallel(Changed& run, Larger, std::size_t step) {
  const std::int64_t times = std::int64_t{2} << step;
  auto& layout = run.question.layout;
  const std::int64_t tp = quantity::product(layout.tp, times);
  if (tp > spec::most_tensor_ranks(run.question.gpu) || !take_from_replicas(run.question, times)) return false;
  layout.tp = tp;
  layout.sp = true;
  std::vector<spec::Word> terms{{"tp", std::to_string(layout.tp)}, {"sp", "1"}};
  if (run.question.model.shape.moe.experts > 0) terms.push_back({"etp", std::to_string(layout.etp)});
  say(run, with_batch(std::move(terms), run.question), fmt::format("each layer cut over {} accelerators", layout.tp),
      "time: exchanges inside of every layer (Korthikanti et al. 2022, arXiv:2205.05198)");
  return true;
}

bool expert_parallel(Changed& run, Larger, std::size_t step) {
  auto& layout = run.question.layout;
  const std::int64_t ep = quantity::product(layout.ep, std::int64_t{2} << step);
  if (run.question.model.shape.moe.experts % ep != 0) return false;
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
