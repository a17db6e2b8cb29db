#include "search/changes.hpp"

#include "llmcalc/frameworks/layout_rules.hpp"
#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/quantity/format.hpp"
#include "llmcalc/spec/layout_rules.hpp"
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/node.hpp"
#include "llmcalc/spec/traits.hpp"
#include "search/change_kinds.hpp"
#include "search/changed_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::search {

namespace {

const frameworks::Row& row_of(const spec::Question& question) {
  return frameworks::row_of(question.training.framework);
}

bool flash_attention(Changed& run, Larger, std::size_t step) {
  auto& kernel = run.question.training.attention;
  if (step > 0 || kernel != spec::AttentionKernel::eager) return false;
  kernel = spec::AttentionKernel::flash;
  say(run, {{"attention", "flash"}}, "attention in one kernel that keeps no scores",
      "nothing: the same result, faster (Dao et al. 2022, arXiv:2205.14135)");
  return true;
}

bool fused_optimizer(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.optimizer_impl != spec::OptimizerImpl::foreach) return false;
  training.optimizer_impl = spec::OptimizerImpl::fused;
  say(run, {{"optimizer_impl", "fused"}}, "an optimizer step without a temporary for each parameter",
      "nothing: the same update in one kernel (torch.optim, fused=True)");
  return true;
}

/// Chunks of the head and its loss, where the framework has no kernel that is both.
bool chunked_loss(Changed& run) {
  run.question.training.loss = spec::Loss::chunked;
  say(run, {{"loss", "chunked"}}, "head and loss a chunk of positions at a time",
      "little: the same loss in several kernels (torchtune CEWithChunkedOutputLoss)");
  return true;
}

bool smaller_loss(Changed& run, Larger, std::size_t step) {
  auto& loss = run.question.training.loss;
  const auto& can = row_of(run.question).abilities.losses;
  if (step > 0 || run.question.layout.tp > 1 || loss == spec::Loss::fused_linear) return false;
  if (!can.has(spec::Loss::fused_linear)) {
    return can.has(spec::Loss::chunked) && loss != spec::Loss::chunked && chunked_loss(run);
  }
  loss = spec::Loss::fused_linear;
  say(run, {{"loss", "fused-linear"}}, "head and loss in one kernel that never holds all logits",
      "little: the same loss, made chunk by chunk (Liger-Kernel, arXiv:2410.10989)");
  return true;
}

struct ShardingStage {
  spec::Sharding sharding;
  std::string_view change;
  std::string_view cost;
};

constexpr std::string_view no_more_traffic =
    "nothing: as much communication as before (Rajbhandari et al. 2020 section 7)";
constexpr std::string_view more_traffic = "1.5 times the communication (Rajbhandari et al. 2020 section 7)";

constexpr ShardingStage stages[] = {
    {spec::Sharding::zero1, "optimizer states spread over the data-parallel ranks", no_more_traffic},
    {spec::Sharding::zero2, "gradients spread as well", no_more_traffic},
    {spec::Sharding::zero3, "weights spread as well, gathered layer by layer", more_traffic},
    {spec::Sharding::fsdp2, "weights spread as well, gathered layer by layer", more_traffic},
};

/// What the framework can shard in this layout, weakest first: all that a search tries but plain replication.
std::vector<ShardingStage> stages_of(const spec::Question& question) {
  std::vector<ShardingStage> known;
  for (const spec::Sharding sharding : row_of(question).space.shardings) {
    const auto* stage = std::ranges::find(stages, sharding, &ShardingStage::sharding);
    spec::Layout layout = question.layout;
    layout.sharding = sharding;
    const bool is_legal = frameworks::broken_rule({question.model.shape, question.training, layout}) == nullptr;
    if (stage != std::end(stages) && is_legal) known.push_back(*stage);
  }
  return known;
}

ChangedTerm sharding_term(const spec::Question& question) {
  return {"sharding", std::string(spec::name_of(question.layout.sharding))};
}

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

/// The n-th divisor of `value` above 1, or 0: the small ones, and at last the value itself.
std::int64_t divisor(std::int64_t value, std::size_t n) {
  constexpr std::int64_t small = 256;
  for (std::int64_t d = 2; d <= std::min(value, small); ++d) {
    if (value % d == 0 && n-- == 0) return d;
  }
  return n == 0 && value > small ? value : 0;
}

bool smaller_micro_batch(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const std::int64_t parts = divisor(training.micro_batch, step);
  if (parts == 0 || spec::updates_in_backward(training.optimizer)) return false;
  training.micro_batch /= parts;
  training.grad_accum = quantity::product(training.grad_accum, parts);
  say(run, {{"micro_batch", std::to_string(training.micro_batch)}, {"grad_accum", std::to_string(training.grad_accum)}},
      "the same global batch in more micro-batches", "time: smaller matrix products use the accelerator less well");
  return true;
}

/// Half, a quarter, ... of the tokens, not below what short answers need.
bool shorter_sequence(Changed& run, Larger, std::size_t step) {
  constexpr std::int64_t shortest = 512;
  auto& training = run.question.training;
  const std::int64_t seq = training.seq >> (step + 1);
  if (seq < shortest || (seq << (step + 1)) != training.seq) return false;
  training.seq = seq;
  say(run, {{"seq", std::to_string(seq)}}, "shorter sequences", "context: longer samples are cut or split");
  return true;
}

bool recompute(Changed& run, Larger, std::size_t step) {
  using spec::RecomputePolicy;
  auto& recompute = run.question.training.recompute;
  const bool covers_all = recompute.layers == spec::RecomputeLayers::all;
  if (step > 1 || (recompute.policy == RecomputePolicy::full && covers_all)) return false;
  const bool selective = step == 0;
  const bool can_be_full = recompute.modules.empty() && run.question.training.method != spec::Method::prefix;
  if (!selective && !can_be_full) return false;
  if (selective && recompute.policy != RecomputePolicy::none) return false;
  recompute = {};
  recompute.policy = selective ? RecomputePolicy::selective : RecomputePolicy::full;
  if (selective) {
    say(run, {{"recompute", "selective"}}, "attention computed again in the backward pass",
        "time: 2 to 3 % more compute (Korthikanti et al. 2022, arXiv:2205.05198 section 5)");
  } else {
    say(run, {{"recompute", "full"}}, "every layer computed again in the backward pass",
        "time: a second forward pass, a third more compute (Chen et al. 2016, arXiv:1604.06174)");
  }
  return true;
}

bool smaller_moments(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.optimizer != spec::Optimizer::adamw) return false;
  training.optimizer = spec::Optimizer::adamw_8bit;
  training.precision.moments = formats::Dtype::int8;
  say(run, {{"optimizer", "adamw-8bit"}}, "optimizer states in 8 bits",
      "numerics: states quantized block by block (Dettmers et al. 2022, arXiv:2110.02861)");
  return true;
}

bool precomputed_reference(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.reference != spec::Reference::model || training.makes_samples()) return false;
  training.reference = spec::Reference::precomputed;
  say(run, {{"reference", "precomputed"}}, "log-probabilities of the reference are stored before training",
      "time: the reference runs over all data first (trl dpo_config.py, precompute_ref_log_probs)");
  return true;
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

constexpr std::size_t doublings = 10;

/// Twice, four times, ... as many data-parallel ranks, with everything sharded that the framework shards.
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

constexpr std::int64_t advised_rank = 16;

/// Adapters rest in fp32 and the base needs no master copy (peft, autocast_adapter_dtype); without them the base is the
/// reference.
void train_adapters(spec::Training& training, spec::Method method) {
  training.method = method;
  if (training.reference == spec::Reference::model) training.reference = spec::Reference::base;
  training.adapter.rank = advised_rank;
  training.adapter.targets = {"all-linear"};
  auto& precision = training.precision;
  precision.grads = formats::Dtype::fp32;
  if (!formats::is_quantized(precision.moments)) precision.moments = formats::Dtype::fp32;
  precision.master = precision.grad_copy = false;
}

void name_adapter(std::vector<ChangedTerm>& terms) {
  terms.push_back({"lora_rank", std::to_string(advised_rank)});
  terms.push_back({"lora_targets", "all-linear"});
}

void name_reference(std::vector<ChangedTerm>& terms, const spec::Training& training) {
  if (training.reference == spec::Reference::base) terms.push_back({"reference", "base"});
}

bool adapters(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.method != spec::Method::full) return false;
  train_adapters(training, spec::Method::lora);
  std::vector<ChangedTerm> terms{{"method", "lora"}};
  name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained instead of the weights",
      "another result: low-rank updates learn less (Biderman et al. 2024, arXiv:2405.09673)");
  return true;
}

bool quantization(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const bool can = training.method == spec::Method::full || training.method == spec::Method::lora;
  if (step > 0 || !can || formats::is_quantized(training.precision.weights)) return false;
  const bool had_adapters = training.method == spec::Method::lora;
  const spec::Adapter present = training.adapter;
  train_adapters(training, spec::Method::qlora);
  if (had_adapters) training.adapter = present;
  training.precision.weights = formats::Dtype::nf4_dq;
  training.precision.autocast = false;
  std::vector<ChangedTerm> terms{{"method", "qlora"}, {"weights", "nf4-dq"}};
  if (!had_adapters) name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained beside weights in 4 bits",
      "another result, and 4-bit weights are off by their rounding (Dettmers et al. 2023, arXiv:2305.14314)");
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

template <std::size_t n>
std::size_t steps(const spec::Question&, Larger) {
  return n;
}

std::size_t larger_steps(const spec::Question&, Larger larger) { return larger.size(); }

/// As many as a micro-batch has divisors.
std::size_t divisors(const spec::Question& question, Larger) {
  std::size_t count = 0;
  while (divisor(question.training.micro_batch, count) != 0) ++count;
  return count;
}

constexpr Change rows[] = {
    {ChangeKind::kernel, steps<1>, flash_attention},  // the same result and no slower
    {ChangeKind::optimizer_kernel, steps<1>, fused_optimizer},
    {ChangeKind::loss, steps<1>, smaller_loss},
    {ChangeKind::checkpoint, steps<2>, spread_checkpoint},
    {ChangeKind::recompute, steps<2>, recompute},  // the same result, later
    {ChangeKind::micro_batch, divisors, smaller_micro_batch},
    {ChangeKind::reference, steps<1>, precomputed_reference},
    {ChangeKind::sequence, steps<8>, shorter_sequence},
    {ChangeKind::sharding, steps<std::size(stages)>, shard},
    {ChangeKind::offload, offloads, offload},
    {ChangeKind::optimizer, steps<1>, smaller_moments},  // nearly the same result
    {ChangeKind::tensor, steps<4>, tensor_parallel},     // the same result, spread another way
    {ChangeKind::pipeline, steps<4>, pipeline},
    {ChangeKind::experts, steps<4>, expert_parallel},
    {ChangeKind::method, steps<1>, adapters},  // another result
    {ChangeKind::method, steps<1>, quantization},
    {ChangeKind::sharding, steps<doublings>, more_accelerators, true},  // the same result for more money
    {ChangeKind::accelerator, larger_steps, next_accelerator},          // another machine, if it can be had
};

}  // namespace

std::span<const Change> all_changes() { return rows; }

}  // namespace llmcalc::search
