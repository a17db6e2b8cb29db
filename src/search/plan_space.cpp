#include "answer/figures.hpp"
#include "answer/levels.hpp"
#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "program/build.hpp"
#include "program/count.hpp"
#include "quantity/lists.hpp"
#include "search/inner/plan_units.hpp"
#include "spec/traits.hpp"
#include "timing/goodput.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace llmcalc::search {

using quantity::BadInput;
using quantity::product;

struct PlanSpace::Parts {
  PlanQuestion question;
  std::vector<spec::Recompute> recomputes;
  std::vector<Base> bases;
  std::vector<PlanUnit> units;

  void list_units();
};

namespace {

std::int64_t layers_of(const spec::Shape& shape) { return shape.layers + shape.decoder_layers; }

/// Numbers of virtual stages that leave every chunk as many layers, give or take the one that pp leaves over.
std::vector<std::int64_t> virtual_stages(const spec::RunChoices& choices, std::int64_t layers, std::int64_t pp) {
  if (!choices.vpp.empty()) return choices.vpp;
  return pp == 1 ? std::vector<std::int64_t>{1} : divisors(quantity::ceil_divide(layers, pp));
}

/// Ways to recompute of any base: those that compute nothing again first, as bounds take the first for the least work.
std::vector<spec::Recompute> recomputes_of(std::span<const spec::RunChoices> choices) {
  std::vector<spec::Recompute> ways;
  for (const spec::RunChoices& own : choices) {
    for (const spec::Recompute& way : own.recompute) {
      if (!quantity::contains(ways, way)) ways.push_back(way);
    }
  }
  std::ranges::stable_sort(ways, {}, &spec::Recompute::policy);
  return ways;
}

/// The rule that these stages break whatever else is chosen: with everything else at its plainest, one that holds with
/// any choice is not broken.
const frameworks::LayoutRule* broken_by_stages(const spec::Question& question, std::int64_t pp, std::int64_t vpp) {
  spec::Training training = question.training;
  training.offload = spec::Offload::none;
  training.offload_to = spec::OffloadTarget::host;
  training.grad_accum = vpp > 1 ? pp : 1;
  spec::Layout layout;
  layout.gpus = question.layout.gpus;
  layout.nodes = question.layout.nodes;
  layout.pp = pp;
  layout.vpp = vpp;
  layout.dp = std::max<std::int64_t>(1, layout.gpus / pp);
  layout.first_stage_layers = question.layout.first_stage_layers;
  layout.last_stage_layers = question.layout.last_stage_layers;
  return frameworks::broken_rule({question.model.shape, training, layout});
}

std::uint32_t index_of(std::vector<program::StageGroup> stages, Pipeline& pipeline) {
  const auto known = std::ranges::find(pipeline.stages, stages);
  const auto index = static_cast<std::uint32_t>(known - pipeline.stages.begin());
  if (known == pipeline.stages.end()) pipeline.stages.push_back(std::move(stages));
  return index;
}

/// The model in so many stages. How a sequence of blocks falls into stages depends on nothing but these.
void add_cut(const PlanSpace::Base& base, std::span<const spec::Recompute> recomputes, std::int64_t vpp,
             Pipeline& pipeline) {
  spec::Question question = base.question;
  question.layout.pp = pipeline.pp;
  question.layout.vpp = vpp;
  StageCut cut{vpp, {}};
  for (std::size_t i = 0; i < recomputes.size(); ++i) {
    question.training.recompute = recomputes[i];
    auto stages = program::stage_groups(program::build_program(question, base.profile[i]));
    cut.stages.push_back(index_of(std::move(stages), pipeline));
  }
  pipeline.cuts.push_back(std::move(cut));
}

/// Layers that are recomputed in groups are blocks of their own, which depend on what layers stand in a stage.
bool groups_layers(const spec::Recompute& recompute) { return recompute.layers == spec::RecomputeLayers::uniform; }

/// The pipeline that a cut belongs to. A tied head, and a prediction further ahead, has a table of its own where there
/// are several stages.
Pipeline& pipeline_of(std::int64_t pp, std::int64_t vpp, bool grouped, PlanSpace::Base& base) {
  auto& pipelines = base.pipelines;
  const bool starts = pipelines.empty() || pipelines.back().pp != pp || grouped;
  if (!starts) return pipelines.back();
  const auto& question = base.question;
  const bool own_table = pp > 1 && (spec::shares_table(question.model.shape) || question.training.mtp_num_layers > 0);
  const auto place = static_cast<std::uint32_t>(pipelines.size());
  pipelines.push_back({pp, grouped ? vpp : 1, grouped ? place : (own_table ? 1U : 0U), {}, {}});
  return pipelines.back();
}

/// Rules are asked before anything is built: a program of more stages than there are layers for is none.
void add_pipelines(const spec::RunChoices& choices, std::span<const spec::Recompute> recomputes,
                   PlanSpace::Base& base) {
  const std::int64_t layers = layers_of(base.question.model.shape);
  const bool grouped = std::ranges::any_of(recomputes, groups_layers);
  for (const std::int64_t pp : degrees(choices.pp, base.question.layout.gpus)) {
    for (const std::int64_t vpp : virtual_stages(choices, layers, pp)) {
      const auto* rule = broken_by_stages(base.question, pp, vpp);
      if (rule != nullptr) base.barrier = rule;
      if (rule != nullptr || product(pp, vpp) > layers) continue;
      add_cut(base, recomputes, vpp, pipeline_of(pp, vpp, grouped, base));
    }
  }
  if (!base.pipelines.empty()) base.barrier = nullptr;
}

constexpr double watts_per_kilowatt = 1000.0;

spec::Accelerator accelerator_of(const spec::Question& question) {
  if (question.gpu) return *question.gpu;
  throw BadInput("--gpu", "a plan needs an accelerator", "--gpu h100-sxm, or --gpu any");
}

quantity::Bytes limited_capacity(const spec::Question& question, const PlanLimits& limits) {
  const quantity::Bytes capacity = trust::capacity_of(question).value_or(question.gpu->memory_usable);
  const auto left = capacity - std::min(capacity, limits.margin_of(capacity));
  return limits.memory ? std::min(left, *limits.memory) : left;
}

void check(const spec::Question& question, const PlanQuestion& plan, const PlanSpace::Base& base) {
  if (question.training.activations != spec::ActivationModel::program) {
    throw BadInput("--activations", "a plan walks the program", "leave --activations out");
  }
  if (question.pricing.mfu) throw BadInput("--mfu", "a plan compares the times of layouts", "leave --mfu out");
  const bool needs_price = plan.objective == Objective::cost || plan.limits.cost;
  if (needs_price && !base.dollars_an_hour) {
    throw BadInput("--price", "no price is known of " + question.gpu->id, "--price dollars per accelerator and hour");
  }
  if (plan.objective == Objective::energy && !base.power) {
    throw BadInput("--objective", "the power of " + question.gpu->id + " is not known");
  }
}

/// Adds what a run needs beside its steps.
void add_operation(const spec::Question& question, PlanSpace::Base& base) {
  const auto program = program::build_program(base.question, base.profile.front());
  const auto size = program::count_parameters(program);
  base.steps = answer::token_budget(question, size.total).steps(question.training);
  if (size.trainable > 0)
    base.clock = answer::wall_clock(question, timing::checkpoint_size(program, question.training));
  const auto gpus = static_cast<double>(question.layout.gpus);
  const auto& price = question.pricing.price_per_hour ? question.pricing.price_per_hour : question.gpu->price_per_hour;
  if (price) base.dollars_an_hour = *price * gpus;
  if (const auto one = answer::footprint(question, 1.0)) {
    base.power = quantity::watts(watts_per_kilowatt * in_kilowatt_hours(one->energy) * gpus);
  }
}

/// One rank a replica, or no part of a direction, where the framework can do no other and nobody says.
spec::RunChoices choices_of(const spec::Question& question, const spec::RunChoices& stated) {
  using frameworks::Parallelism;
  const auto& row = frameworks::row_of(question.training.framework);
  const auto can = [&](Parallelism way) { return row.space.splits_models && row.splits.has(way); };
  spec::RunChoices choices = stated;
  const auto restrict_to_one = [&](std::vector<std::int64_t>& degrees, Parallelism way) {
    if (degrees.empty() && !can(way)) degrees = {1};
  };
  restrict_to_one(choices.tp, Parallelism::tensor);
  restrict_to_one(choices.pp, Parallelism::pipeline);
  restrict_to_one(choices.vpp, Parallelism::virtual_stages);
  restrict_to_one(choices.cp, Parallelism::context);
  restrict_to_one(choices.ep, Parallelism::experts);
  restrict_to_one(choices.etp, Parallelism::expert_tensor);
  using spec::ContextExchange;
  if (choices.cp_exchange.empty()) {
    for (const auto exchange : {ContextExchange::ring, ContextExchange::all_to_all}) {
      if (row.exchanges.has(exchange)) choices.cp_exchange.push_back(exchange);
    }
  }
  if (choices.recompute.empty()) choices.recompute = frameworks::ways_to_recompute(question);
  std::erase_if(choices.recompute, [&](const spec::Recompute& way) { return !row.recomputes.has(way.policy); });
  return choices;
}

bool follows_sharding(const spec::Question& question, const spec::RunChoices& choices) {
  const auto with = [&](spec::Sharding sharding) { return frameworks::gradients_of(question.training, sharding); };
  return !choices.states_grads && with(spec::Sharding::none) != with(spec::Sharding::zero3);
}

void add_profiles(std::span<const spec::Recompute> recomputes, PlanSpace::Base& base) {
  for (const spec::Recompute& policy : recomputes) {
    base.question.training.recompute = policy;
    base.profile.push_back(answer::profile_of(base.question));
  }
  base.question.training.recompute = {};
}

/// The first of the bases that ask the same of an accelerator on which the framework does the same, so that programs
/// and their memory are one. Programs ask accelerators themselves for nothing but FlashAttention (layers/context.cpp).
std::uint32_t kind_of(const PlanSpace::Base& base, std::uint32_t index, const PlanQuestion& plan,
                      std::span<const PlanSpace::Base> others) {
  const auto attends = [](const PlanSpace::Base& b) {
    return spec::can(b.question.gpu, spec::Ability::flash_attention);
  };
  for (std::uint32_t i = 0; i < others.size() && !plan.kinds.empty(); ++i) {
    const bool is_alike = plan.kinds[i] == plan.kinds[index] && attends(others[i]) == attends(base);
    if (is_alike && others[i].kind == i && others[i].profile == base.profile) return i;
  }
  return index;
}

/// \param others  the bases before it
PlanSpace::Base base_of(const PlanQuestion& plan, std::uint32_t index, const spec::RunChoices& choices,
                        std::span<const spec::Recompute> recomputes, std::span<const PlanSpace::Base> others) {
  const spec::Question& question = plan.bases[index];
  PlanSpace::Base base{index, question, choices, {}, {}, nullptr, timing::Links(accelerator_of(question)),
                       {},    0,        {},      {}, {}};
  add_profiles(recomputes, base);
  if (follows_sharding(question, plan.choices)) {
    base.question.training.precision.grads = frameworks::gradients_of(question.training, spec::Sharding::zero3);
    add_profiles(recomputes, base);
    base.question.training.precision.grads = frameworks::gradients_of(question.training, spec::Sharding::none);
  }
  base.kind = kind_of(base, index, plan, others);
  if (base.kind != index) {
    base.pipelines = others[base.kind].pipelines;
    base.barrier = others[base.kind].barrier;
  } else {
    add_pipelines(choices, recomputes, base);
  }
  base.capacity = limited_capacity(question, plan.limits);
  add_operation(question, base);
  check(question, plan, base);
  return base;
}

/// Order of the bases: what a fast accelerator has shown need not be priced on a slow one.
std::vector<std::uint32_t> fastest_first(const std::vector<spec::Question>& bases) {
  std::vector<std::uint32_t> order(bases.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t i) {
    const spec::Question& base = bases[i];
    return static_cast<double>(base.layout.gpus) *
           quantity::in_flops_per_second(spec::matrix_peak(*base.gpu, base.training.precision.compute));
  });
  return order;
}

}  // namespace

/// Bases of one kind are searched unit by unit, as they share what a unit makes.
void PlanSpace::Parts::list_units() {
  auto order = fastest_first(question.bases);
  while (!order.empty()) {
    const std::uint32_t kind = bases[order.front()].kind;
    const auto is_alike = [&](std::uint32_t i) { return bases[i].kind == kind; };
    const auto rest = std::stable_partition(order.begin(), order.end(), is_alike);
    const std::vector<std::uint32_t> alike(order.begin(), rest);
    order.erase(order.begin(), rest);
    std::vector<PlanUnit> of_kind;
    add_units(kind, question.bases[kind], bases[kind].choices, of_kind);
    for (PlanUnit unit : of_kind) {
      for (const std::uint32_t i : alike) {
        unit.base = i;
        units.push_back(unit);
      }
    }
  }
}

PlanSpace::PlanSpace(PlanQuestion question) : parts_(std::make_unique<Parts>()) {
  parts_->question = std::move(question);
  const PlanQuestion& plan = parts_->question;
  std::vector<spec::RunChoices> choices;
  for (std::size_t i = 0; i < plan.bases.size(); ++i) {
    choices.push_back(choices_of(plan.bases[i], plan.startable.empty() ? plan.choices : plan.startable[i]));
  }
  parts_->recomputes = recomputes_of(choices);
  for (std::size_t i = 0; i < plan.bases.size(); ++i) {
    parts_->bases.push_back(
        base_of(plan, static_cast<std::uint32_t>(i), choices[i], parts_->recomputes, parts_->bases));
  }
  parts_->list_units();
}

PlanSpace::~PlanSpace() = default;
PlanSpace::PlanSpace(PlanSpace&&) noexcept = default;

const PlanQuestion& PlanSpace::question() const { return parts_->question; }
std::span<const PlanUnit> PlanSpace::units() const { return parts_->units; }
std::span<const spec::Recompute> PlanSpace::recomputes() const { return parts_->recomputes; }
const PlanSpace::Base& PlanSpace::base(std::uint32_t index) const { return parts_->bases[index]; }

const frameworks::LayoutRule* PlanSpace::barrier() const {
  const auto is_open = [](const Base& base) { return base.barrier == nullptr; };
  return std::ranges::any_of(parts_->bases, is_open) ? nullptr : parts_->bases.front().barrier;
}

spec::Question PlanSpace::question_of(const Choice& c) const {
  spec::Question question = parts_->bases[c.base].question;
  question.layout = c.layout;
  spec::Training& training = question.training;
  if (!parts_->question.choices.states_grads) {
    training.precision.grads = frameworks::gradients_of(training, c.layout.sharding);
  }
  training.micro_batch = c.micro_batch;
  training.grad_accum = training.global_batch / (c.layout.dp * c.micro_batch);
  training.recompute = parts_->recomputes[c.recompute];
  training.offload = c.offload;
  training.cuda_graph = c.cuda_graph;
  return question;
}

}  // namespace llmcalc::search
