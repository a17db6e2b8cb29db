#include "search/inner/unit_search.hpp"

#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "memory/communicators.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

/// The same layers stand in the same blocks.
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

}  // namespace

UnitSearch::UnitSearch(const PlanSpace& space)
    : space_(space),
      weight_slot_(weight_slots(space.recomputes())),
      weights_(space.recomputes().size()),
      rests_(space.recomputes().size()) {
  rules_.fill(std::vector<memory::StepRules>(space.recomputes().size()));
}

void UnitSearch::enter(std::uint32_t base) {
  if (base_ != nullptr && base_index_ == base) return;
  base_ = nullptr;
  const PlanSpace::Base& entered = space_.base(base);
  question_ = entered.question;
  kernels_.emplace(*entered.question.gpu, question_.training, entered.profile.front());
  base_index_ = base;
  base_ = &entered;
  first_profile_ = 0;
}

/// What the host does is part of the kernels' prices.
void UnitSearch::take_graph(spec::CudaGraph graph) {
  if (question_.training.cuda_graph == graph) return;
  question_.training.cuda_graph = graph;
  kernels_.emplace(*base_->question.gpu, question_.training, base_->profile.front());
}

/// A part of the search that cannot be answered does not end the others.
void UnitSearch::search(const PlanUnit& unit, Keeper& keeper) try {
  keeper_ = &keeper;
  enter(unit.base);
  prices_.clear();
  spec::Layout& layout = question_.layout;
  layout.tp = unit.tp;
  layout.cp = unit.cp;
  layout.cp_exchange = unit.cp_exchange;
  layout.ep = unit.ep;
  layout.etp = unit.etp;
  layout.node_dispatch = unit.node_dispatch;
  layout.expert_overlap = unit.expert_overlap;
  question_.training.micro_batch = unit.micro_batch;
  take_graph(unit.cuda_graph);
  for (const Pipeline& pipeline : base_->pipelines) search_pipeline(pipeline);
} catch (const std::exception& error) {
  keeper.miss(error.what());
}

/// Tensors beyond what can be counted fit nowhere.
void UnitSearch::search_pipeline(const Pipeline& pipeline) try {
  spec::Layout& layout = question_.layout;
  spec::Training& training = question_.training;
  const std::int64_t replica = product(layout.tp, layout.cp, pipeline.pp);
  if (layout.gpus % replica != 0) return;
  layout.pp = pipeline.pp;
  layout.dp = layout.gpus / replica;
  const auto& allowed = space_.question().choices.dp;
  if (!allowed.empty() && !quantity::contains(allowed, layout.dp)) return;
  const std::int64_t at_once = product(layout.dp, training.micro_batch);
  if (training.global_batch % at_once != 0) return;
  training.grad_accum = training.global_batch / at_once;
  if (!is_legal(spec::LooksAt::ranks) || !list_legal_orders(pipeline)) return;
  make_weight_programs(pipeline);
  prices_.enter(pipeline.stages.size());
  for (const auto sharding : shardings(space_.question().choices, question_)) {
    layout.sharding = sharding;
    follow_sharding();
    network_.emplace(base_->links, *base_->question.gpu, layout);
    communicators_ = memory::beside_trainer(question_);
    price_weights(pipeline);
    search_offloads(pipeline);
  }
} catch (const quantity::Overflow&) {
}

bool UnitSearch::is_legal(spec::LooksAt what) const {
  return frameworks::broken_rule({question_.model.shape, question_.training, question_.layout}, what) == nullptr;
}

/// Other gradients are other choices of the framework.
void UnitSearch::follow_sharding() {
  spec::Training& training = question_.training;
  const std::size_t policies = space_.recomputes().size();
  if (base_->profile.size() == policies) return;
  training.precision.grads = frameworks::gradients_of(training, question_.layout.sharding);
  const bool as_unsharded = training.precision.grads == frameworks::gradients_of(training, spec::Sharding::none);
  first_profile_ = as_unsharded ? 0 : policies;
}

void UnitSearch::search_offloads(const Pipeline& pipeline) {
  const auto usual = space_of(question_).offloads.span();
  for (const auto offload : values(space_.question().choices.offload, usual)) {
    question_.training.offload = offload;
    if (!is_legal(spec::LooksAt::states)) continue;
    make_rules();
    states_fit_.assign(pipeline.stages.size(), std::nullopt);
    for (StageRests& rests : rests_) rests.clear(pipeline.stages.size());
    for (const bool split : {false, true}) {
      question_.layout.sp = split;
      search_orders(pipeline);
    }
  }
}

bool UnitSearch::may_split_sequence(bool split) const {
  const auto& stated = space_.question().choices.sp;
  if (!stated.empty() && !quantity::contains(stated, split)) return false;
  return !split ||
         frameworks::row_of(question_.training.framework).abilities.splits.has(frameworks::Parallelism::sequence);
}

bool UnitSearch::list_legal_orders(const Pipeline& pipeline) {
  for (const bool split : {false, true}) {
    auto& orders = legal_orders_[split];
    orders.clear();
    if (!may_split_sequence(split)) continue;
    question_.layout.sp = split;
    for (const auto schedule : schedules(space_.question().choices, question_)) {
      for (const StageCut& cut : pipeline.cuts) {
        take({schedule, &cut});
        if (is_legal(spec::LooksAt::order)) orders.push_back({schedule, &cut});
      }
    }
  }
  return !legal_orders_[false].empty() || !legal_orders_[true].empty();
}

void UnitSearch::search_orders(const Pipeline& pipeline) {
  list_orders(pipeline);
  if (orders_.empty()) return;
  be_plain(pipeline);
  for (std::uint32_t i = 0; i < weights_.size(); ++i) evaluate(i, pipeline);
}

bool UnitSearch::restricts_policies() const {
  return question_.layout.expert_overlap || question_.training.cuda_graph != spec::CudaGraph::none;
}

/// How many recompute policies the layout may have: experts that overlap are not recomputed whole, nor are graphs.
std::int64_t UnitSearch::legal_policies() {
  if (!restricts_policies()) return static_cast<std::int64_t>(weights_.size());
  std::int64_t legal = 0;
  for (const spec::Recompute& policy : space_.recomputes()) {
    question_.training.recompute = policy;
    legal += is_legal(spec::LooksAt::all) ? 1 : 0;
  }
  question_.training.recompute = {};
  return legal;
}

/// Layouts whose states alone do not fit are counted and left.
void UnitSearch::list_orders(const Pipeline& pipeline) {
  question_.training.recompute = {};
  orders_.clear();
  for (const Order& order : legal_orders_[question_.layout.sp]) {
    take(order);
    if (!is_legal(spec::LooksAt::all)) continue;
    keeper_->count(legal_policies(), 0);
    const std::uint32_t list = order.cut->stages.front();
    if (!states_fit_[list]) states_fit_[list] = states_fit(pipeline, list);
    if (*states_fit_[list]) orders_.push_back(order);
  }
}

/// As programs are built, which no order changes.
void UnitSearch::be_plain(const Pipeline& pipeline) {
  question_.layout.schedule = spec::Schedule::one_f_one_b;
  question_.layout.vpp = pipeline.vpp;
}

}  // namespace llmcalc::search
