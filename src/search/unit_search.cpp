// The search over a unit: what is priced and when, and what is chosen.

#include "search/inner/unit_search.hpp"

#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "memory/communicators.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <span>

namespace llmcalc::search {

using quantity::Bytes;
using quantity::product;
using quantity::Seconds;

namespace {

/// The stated values, or what the framework can do.
template <class T>
std::span<const T> values(const std::vector<T>& stated, std::span<const T> usual) {
  return stated.empty() ? usual : std::span<const T>(stated);
}

const frameworks::Space& space_of(const spec::Question& question) {
  return frameworks::row_of(question.training.framework).space;
}

/// Without replicas nothing can be sharded.
std::span<const spec::Sharding> shardings(const spec::RunChoices& choices, const spec::Question& question) {
  static constexpr std::array alone{spec::Sharding::none};
  const bool replicated = product(question.layout.dp, question.layout.cp) > 1;
  return values(choices.sharding, replicated ? space_of(question).shardings.span() : std::span(alone));
}

/// 1F1B alone where there is no pipeline.
std::span<const spec::Schedule> schedules(const spec::RunChoices& choices, const spec::Question& question) {
  static constexpr std::array plain{spec::Schedule::one_f_one_b};
  if (question.layout.pp == 1) return plain;
  return values(choices.schedule, space_of(question).schedules.span());
}

/// Whether the same layers stand in the same blocks.
bool share_blocks(const spec::Recompute& a, const spec::Recompute& b) {
  const bool all = a.layers == spec::RecomputeLayers::all && b.layers == spec::RecomputeLayers::all;
  return all || (a.layers == b.layers && a.count == b.count);
}

std::vector<std::uint32_t> weight_slots(std::span<const spec::Recompute> recomputes) {
  std::vector<std::uint32_t> slots;
  for (const auto& recompute : recomputes) {
    const auto first = std::ranges::find_if(recomputes, [&](const auto& r) { return share_blocks(r, recompute); });
    slots.push_back(static_cast<std::uint32_t>(first - recomputes.begin()));
  }
  return slots;
}

/// Time that the slowest stage waits for the others at least, in their mean pace: passes of the weights' gradients may
/// fill it, and more chunks divide it (timing/pipeline.cpp, share_of_bubble).
double least_bubble(const Pipeline& pipeline, std::span<const spec::Schedule> schedules) {
  if (quantity::contains(schedules, spec::Schedule::zero_bubble)) return 0.0;
  const auto most = std::ranges::max(pipeline.cuts, {}, &StageCut::vpp).vpp;
  return static_cast<double>(pipeline.pp - 1) / static_cast<double>(most);
}

/// Bit of a variant of a unit, of which a set holds all.
constexpr std::uint32_t bit_of(std::size_t variant) { return std::uint32_t{1} << variant; }

}  // namespace

UnitSearch::UnitSearch(const PlanSpace& space) : space_(space), weight_slot_(weight_slots(space.recomputes())) {}

/// Questions are exchanged, as copies of their texts cost more than the search of many a unit.
void UnitSearch::enter(std::uint32_t base) {
  if (base_ != nullptr && base_index_ == base) return;
  if (base_ != nullptr) std::swap(own_[base_index_]->question, question_);
  base_ = &space_.base(base);
  base_index_ = base;
  if (own_.size() <= base) own_.resize(base + 1);
  if (!own_[base]) own_[base].emplace().question = base_->question;
  std::swap(own_[base]->question, question_);
}

/// A part of the search that cannot be answered does not end the others.
void UnitSearch::search(const PlanUnit& unit, Keeper& keeper) try {
  keeper_ = &keeper;
  enter(unit.base);
  if (!listed_ || !listed_->is_alike(unit) || space_.base(listed_->base).kind != base_->kind) list_layouts(unit);
  unit.shard(question_.layout);
  forget_accelerator();
  for (length_ = 0; length_ < micro_batches_.size(); ++length_) search_micro_batch();
} catch (const std::exception& error) {
  keeper.miss(error.what());
}

void UnitSearch::list_layouts(const PlanUnit& unit) {
  listed_.reset();
  const auto& choices = base_->choices;
  list_variants(unit, base_->question, choices, variants_);
  const bool overlaps = quantity::contains(variants_, true, &Variant::expert_overlap);
  hides_ = {.host = variants_.size() > 1, .experts = variants_.size() > 1 || overlaps};
  micro_batches_ = degrees(choices.micro_batch, question_.training.global_batch);
  long_prices_.clear();
  prices_.resize(micro_batches_.size());
  for (PlanPrices& prices : prices_) prices.clear();
  list_cells(unit);
  listed_ = unit;
}

/// Findings about another accelerator in the same layouts go.
void UnitSearch::forget_accelerator() {
  for (PipelineCells& pipeline : pipelines_) {
    for (Sharded& sharded : pipeline.sharded) {
      sharded.network.reset();
      for (PricedWeights& weights : sharded.weights) weights.traffic.clear();
    }
    for (Cell& cell : pipeline.cells) {
      cell.has_room.fill(true);
      cell.accumulates.reset();
      cell.slow_up_to.assign(cell.legal.size() + 1, {});
    }
  }
}

/// The unit in so many stages; false where there is no such run.
bool UnitSearch::cut(std::int64_t pp) {
  spec::Layout& layout = question_.layout;
  const std::int64_t replica = product(layout.tp, layout.cp, pp);
  if (layout.gpus % replica != 0) return false;
  layout.pp = pp;
  layout.dp = layout.gpus / replica;
  const auto& allowed = base_->choices.dp;
  if (!allowed.empty() && !quantity::contains(allowed, layout.dp)) return false;
  return question_.training.global_batch % layout.dp == 0 && is_legal(frameworks::LooksAt::ranks);
}

bool UnitSearch::take_micro_batch(std::int64_t micro_batch, std::int64_t dp) {
  spec::Training& training = question_.training;
  const std::int64_t at_once = product(dp, micro_batch);
  if (training.global_batch % at_once != 0) return false;
  training.micro_batch = micro_batch;
  training.grad_accum = training.global_batch / at_once;
  return true;
}

void UnitSearch::list_cells(const PlanUnit& unit) {
  unit.shard(question_.layout);
  take_variant(variants_.front());
  pipelines_.clear();
  for (const Pipeline& pipeline : base_->pipelines) try {
      if (!cut(pipeline.pp)) continue;
      PipelineCells& cells = pipelines_.next();
      cells.pipeline = &pipeline;
      cells.dp = question_.layout.dp;
      cells.orders.assign(micro_batches_.size(), {});
      add_cells(cells);
      list_orders(cells);
    } catch (const quantity::Overflow&) {  // tensors beyond what can be counted fit nowhere
    }
}

void UnitSearch::add_cells(PipelineCells& pipeline) {
  pipeline.cells.clear();
  pipeline.sharded.clear();
  make_weight_programs(pipeline);
  const auto& choices = base_->choices;
  for (const auto sharding : shardings(choices, question_)) {
    question_.layout.sharding = sharding;
    Sharded& sharded = pipeline.sharded.next();
    sharded.sharding = sharding;
    follow_sharding(sharded);
    price_weights(pipeline, sharded);
    for (const auto offload : values(choices.offload, space_of(question_).offloads.span())) {
      question_.training.offload = offload;
      const std::uint32_t legal = legal_variants(frameworks::LooksAt::states);
      if (legal == 0) continue;
      Cell& cell = pipeline.cells.next();
      cell.legal.clear();
      for (const spec::Recompute& policy : space_.recomputes()) {
        question_.training.recompute = policy;
        const bool can = quantity::contains(choices.recompute, policy);
        cell.legal.push_back(can ? legal & legal_variants(frameworks::LooksAt::policy) : 0);
      }
      cell.sharded = &sharded;
      cell.offload = offload;
      for (HeldStates& held : cell.held) held.is_known = false;
      cell.least_allocated.assign(micro_batches_.size() * cell.legal.size(), {});
    }
  }
}

void UnitSearch::list_orders(PipelineCells& pipeline) {
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    if (!take_micro_batch(micro_batches_[i], pipeline.dp)) continue;
    PipelineOrders& orders = pipeline.orders[i];
    list_legal_orders(*pipeline.pipeline, orders);
    orders.least_bubble = least_bubble(*pipeline.pipeline, schedules(base_->choices, question_));
    for (const Cell& cell : pipeline.cells) orders.layouts += layouts_of(cell, orders);
  }
}

void UnitSearch::search_micro_batch() {
  for (PipelineCells& pipeline : pipelines_) try {
      orders_ = &pipeline.orders[length_];
      if (orders_->are_none()) continue;
      question_.layout.pp = pipeline.pipeline->pp;
      question_.layout.dp = pipeline.dp;
      take_micro_batch(micro_batches_[length_], pipeline.dp);
      keeper_->count(orders_->layouts, 0);
      search_pipeline(pipeline);
    } catch (const quantity::Overflow&) {
    }
}

void UnitSearch::search_pipeline(PipelineCells& pipeline) {
  prices_[length_].enter(pipeline.pipeline->stages.size());
  for (Cell& cell : pipeline.cells) {
    if (cell.has_room[question_.training.grad_accum > 1]) search_cell(*pipeline.pipeline, cell);
  }
}

std::int64_t UnitSearch::layouts_of(const Cell& cell, const PipelineOrders& listed) const {
  std::int64_t layouts = 0;
  for (const auto& orders : listed.orders) {
    for (const Order& order : orders) {
      for (const std::uint32_t legal : cell.legal) layouts += std::popcount(order.legal & legal);
    }
  }
  return layouts;
}

/// Where one sequence more has no room, nor have more than that, unless they are all there is: then gradients are not
/// added up.
void UnitSearch::search_cell(const Pipeline& pipeline, Cell& cell) {
  enter(cell);
  const bool accumulates = question_.training.grad_accum > 1;
  if (cell.accumulates != accumulates) prepare(pipeline, cell);
  Bytes least = nowhere;
  const bool may_fit = !space_.question().prunes || quantity::contains(cell.states_fit, true);
  for (const bool split : {false, true}) {
    if (!may_fit || !may_split_sequence(split)) continue;
    question_.layout.sp = split;
    be_plain(pipeline);
    if (legal_orders().empty() || are_too_slow(pipeline)) {
      least = std::min(least, cell.least);
      continue;
    }
    for (std::uint32_t i = 0; i < cell.legal.size(); ++i) least = std::min(least, evaluate(i, pipeline));
  }
  cell.least = std::max(cell.least, least);
  if (!space_.question().prunes || least <= base_->capacity) return;
  cell.has_room[accumulates] = false;
  if (accumulates && !needs_less_at_once()) cell.has_room[false] = false;
}

bool UnitSearch::is_legal(frameworks::LooksAt what) const {
  return frameworks::broken_rule({question_.model.shape, question_.training, question_.layout}, what) == nullptr;
}

std::uint32_t UnitSearch::legal_variants(frameworks::LooksAt what) {
  std::uint32_t legal = 0;
  for (std::size_t i = variants_.size(); i-- > 0;) {
    take_variant(variants_[i]);
    if (is_legal(what)) legal |= bit_of(i);
  }
  return legal;
}

void UnitSearch::take_variant(const Variant& variant) {
  question_.layout.node_dispatch = variant.node_dispatch;
  question_.layout.expert_overlap = variant.expert_overlap;
  question_.training.cuda_graph = variant.cuda_graph;
}

void UnitSearch::take(const Order& order) {
  question_.layout.schedule = order.schedule;
  question_.layout.vpp = order.cut->vpp;
}

/// Other gradients are other choices of the framework.
void UnitSearch::follow_sharding(Sharded& sharded) {
  spec::Training& training = question_.training;
  const std::size_t policies = space_.recomputes().size();
  sharded.first_profile = first_profile_ = 0;
  if (base_->profile.size() == policies) return;
  training.precision.grads = frameworks::gradients_of(training, question_.layout.sharding);
  const bool as_unsharded = training.precision.grads == frameworks::gradients_of(training, spec::Sharding::none);
  sharded.first_profile = first_profile_ = as_unsharded ? 0 : policies;
}

void UnitSearch::enter(Cell& cell) {
  cell_ = &cell;
  sharded_ = cell.sharded;
  question_.layout.sharding = cell.sharded->sharding;
  question_.training.offload = cell.offload;
  if (!sharded_->network) {
    sharded_->network.emplace(base_->links, *base_->question.gpu, question_.layout);
    sharded_->communicators = memory::beside_trainer(question_);
  }
  first_profile_ = cell.sharded->first_profile;
  hides_.between_nodes = sharded_->network->span(layers::RankGroup::expert).nodes() > 1;
  if (base_->profile.size() > space_.recomputes().size()) {
    question_.training.precision.grads = frameworks::gradients_of(question_.training, question_.layout.sharding);
  }
}

/// One rank a sequence is whole anyway.
bool UnitSearch::may_split_sequence(bool split) const {
  const auto& stated = base_->choices.sp;
  if (!stated.empty() && !quantity::contains(stated, split)) return false;
  if (!split) return true;
  return question_.layout.tp > 1 &&
         frameworks::row_of(question_.training.framework).splits.has(frameworks::Parallelism::sequence);
}

void UnitSearch::list_legal_orders(const Pipeline& pipeline, PipelineOrders& listed) {
  for (const bool split : {false, true}) {
    auto& orders = listed.orders[split];
    if (!may_split_sequence(split)) continue;
    question_.layout.sp = split;
    for (const auto schedule : schedules(base_->choices, question_)) {
      for (const StageCut& cut : pipeline.cuts) {
        Order order{schedule, &cut, 0};
        take(order);
        order.legal = legal_variants(frameworks::LooksAt::order);
        if (order.legal != 0) orders.push_back(order);
      }
    }
  }
}

/// As programs are built, which no order changes.
void UnitSearch::be_plain(const Pipeline& pipeline) {
  question_.layout.schedule = spec::Schedule::one_f_one_b;
  question_.layout.vpp = pipeline.vpp;
}

}  // namespace llmcalc::search
