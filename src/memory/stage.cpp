// What a stage takes by its place in the pipeline, once its blocks have been walked, and which stage takes most.

#include "memory/inner/stage.hpp"

#include "layers/widths.hpp"
#include "llmcalc/spec/question.hpp"
#include "memory/inner/buffers.hpp"
#include "memory/stage_walk.hpp"

#include <algorithm>

namespace llmcalc::memory {

using program::Companion;
using program::CompanionRole;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;
using quantity::product;

namespace {

/// GPipe runs the whole pipeline forward first, so every stage keeps all m micro-batches, the last one their losses too
/// (Huang et al. 2018, arXiv:1811.06965 section 2.3).
Bytes of_gpipe(const Kept& kept, std::int64_t micro_batches) {
  return bytes(product(in_bytes(kept.total()), micro_batches - 1));
}

/// 1F1B: stage r of p has min(m, p - r) micro-batches in flight (Narayanan et al. 2021, arXiv:2104.04473 section 2.2).
/// Interleaved with v chunks a stage: 2(p - r - 1) + (v - 1)p warm-up chunks and the one that runs (Megatron-LM
/// core/pipeline_parallel/schedules.py, get_pp_rank_microbatches), each 1/v of the stage's layers. The loss of a
/// micro-batch runs backward at once.
Bytes of_one_f_one_b(const Kept& kept, const spec::Layout& layout, std::int64_t micro_batches, std::int64_t stage) {
  const std::int64_t behind = layout.pp - stage - 1;
  const std::int64_t warm_up = layout.vpp == 1 ? behind : 2 * behind + (layout.vpp - 1) * layout.pp;
  const std::int64_t chunks = std::min(micro_batches * layout.vpp, warm_up + 1);
  const std::int64_t others = std::max<std::int64_t>(0, chunks - layout.vpp);
  return bytes(product(in_bytes(kept.layers), others) / layout.vpp);
}

/// ZB-H1 keeps p micro-batches in flight on every stage: p - r as 1F1B does, and r whose weight gradients wait to fill
/// the bubble (Qi et al. 2023, arXiv:2401.10241 section 2.1).
Bytes of_zero_bubble(const Kept& kept, const spec::Layout& layout, std::int64_t micro_batches, std::int64_t stage) {
  const std::int64_t forwarded = std::min(micro_batches, layout.pp - stage);
  const std::int64_t waiting = std::min(micro_batches - forwarded, stage);
  return bytes(product(in_bytes(kept.layers), forwarded - 1) + product(in_bytes(kept.deferred), waiting));
}

/// Bytes kept by the other micro-batches while one is walked.
Bytes activations_in_flight(const Kept& kept, const spec::Question& question, std::int64_t stage) {
  const auto& layout = question.layout;
  const std::int64_t micro_batches = question.training.grad_accum;
  if (layout.pp == 1) return bytes(0);
  switch (layout.schedule) {
    case spec::Schedule::gpipe: return of_gpipe(kept, micro_batches);
    case spec::Schedule::zero_bubble: return of_zero_bubble(kept, layout, micro_batches, stage);
    case spec::Schedule::one_f_one_b: return of_one_f_one_b(kept, layout, micro_batches, stage);
  }
  return bytes(0);
}

/// Part of them on the host: the same share as of the micro-batch that is walked.
Bytes left_of(Bytes in_flight, const Kept& kept) {
  const Bytes all = kept.total();
  if (kept.left == bytes(0)) return bytes(0);
  if (kept.left == all) return in_flight;
  const double share = static_cast<double>(in_bytes(kept.left)) / static_cast<double>(in_bytes(all));
  return bytes(static_cast<std::int64_t>(share * static_cast<double>(in_bytes(in_flight))));
}

struct Pass {
  Bytes kept;
  Bytes peak;
};

/// A frozen model runs block by block and keeps nothing. Generation keeps its cache, and the weights that were gathered
/// for it, beside which one position of each sample is small.
Pass pass_of(const BlockPrices& prices, const StepRules& rules, const Companion& companion,
             std::span<const program::BlockRun> runs) {
  Pass pass;
  auto widest = bytes(0);
  for (const auto& [block, count] : runs) {
    const std::uint16_t own = companion.runs[block];
    const BlockWalk& walk = prices.walks[own];
    const Bytes gathered = rules.streams_weights ? prices.weights->blocks[own].gathered : bytes(0);
    pass.kept += count * walk.kept;
    if (companion.role == CompanionRole::generation && rules.gathers_all) pass.kept += count * gathered;
    widest = std::max(widest, walk.forward_peak + gathered);
  }
  pass.peak = pass.kept + (companion.role == CompanionRole::generation ? bytes(0) : widest);
  return pass;
}

program::States states_of(const BlockPrices& prices, const Companion& companion,
                          std::span<const program::BlockRun> runs) {
  program::States states;
  if (!companion.owns_weights) return states;
  for (const auto& [block, count] : runs) states.add(prices.weights->blocks[companion.runs[block]].states, count);
  return states;
}

/// \param runs  blocks of the trained model on the stage
CompanionStates companion_states(const BlockPrices& prices, std::span<const program::BlockRun> runs) {
  CompanionStates sum;
  for (const Companion& companion : prices.companions) {
    if (companion.role == CompanionRole::reference) sum.reference = states_of(prices, companion, runs);
    if (companion.role == CompanionRole::reward) sum.reward = states_of(prices, companion, runs);
    if (companion.is_trained()) sum.value = states_of(prices, companion, runs);
  }
  return sum;
}

/// \param runs  blocks of the trained model on the stage
CompanionPasses companion_passes(const BlockPrices& prices, const StepRules& rules,
                                 std::span<const program::BlockRun> runs) {
  CompanionPasses sum;
  for (const auto& [block, count] : runs) {
    if (rules.gathers_all) sum.before += count * prices.weights->blocks[block].gathered;
  }
  for (const Companion& companion : prices.companions) {
    const Pass pass = pass_of(prices, rules, companion, runs);
    if (companion.is_trained()) {
      sum.kept = pass.kept;
    } else {
      Bytes& highest = rules.asks_in_loss ? sum.in_loss : sum.before;
      highest = std::max(highest, pass.peak);
    }
  }
  return sum;
}

}  // namespace

/// As of a stage that is placed: other micro-batches are there in each of its passes.
Bytes StageWalk::peak(const StageNeeds& needs, std::int64_t index) const {
  const Bytes in_flight = activations_in_flight(needs.kept, question_, index);
  const StageTensors tensors = stage_tensors(question_, profile_, index);
  StageNeeds placed = needs;
  placed.micro_batch += in_flight - left_of(in_flight, needs.kept);
  placed.rest.resident += tensors.in_step;
  placed.rest.update += tensors.between_steps;
  return peak(placed);
}

Bytes StageWalk::peak(const StageNeeds& needs) const {
  const Bytes in_passes = needs.rest.resident + std::max(needs.before, needs.micro_batch);
  return needs.kept.buffers + (rules_.differentiates ? std::max(in_passes, needs.rest.update) : in_passes);
}

Bytes StageWalk::host(const StageNeeds& needs, std::int64_t index) const {
  if (needs.kept.left == bytes(0)) return needs.rest.host;
  const Bytes in_flight = activations_in_flight(needs.kept, question_, index);
  return needs.rest.host + needs.kept.left + left_of(in_flight, needs.kept);
}

StagePeak StageWalk::worst(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const {
  StagePeak worst{0, bytes(-1)};
  const auto consider = [&](const StageNeeds& of, std::int64_t stage) {
    const Bytes allocated = peak(of, stage);
    if (allocated > worst.allocated) worst = {stage, allocated};
  };
  const bool may_grow = question_.layout.schedule == spec::Schedule::zero_bubble;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    consider(needs[i], groups[i].first);
    if (may_grow && groups[i].last != groups[i].first) consider(needs[i], groups[i].last);
  }
  return worst;
}

StagePeak StageWalk::worst(std::span<const program::StageGroup> groups) const {
  return worst(groups, needs_of(groups));
}

std::vector<StageNeeds> StageWalk::needs_of(std::span<const program::StageGroup> groups) const {
  std::vector<StageNeeds> of;
  for (const auto& group : groups) of.push_back(needs(group.runs, rest(group.runs)));
  return of;
}

Bytes StageWalk::highest_host(std::span<const program::StageGroup> groups, std::span<const StageNeeds> needs) const {
  Bytes highest = bytes(0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    highest = std::max({highest, host(needs[i], groups[i].first), host(needs[i], groups[i].last)});
  }
  return highest;
}

Bytes StageWalk::highest_host(std::span<const program::StageGroup> groups) const {
  return highest_host(groups, needs_of(groups));
}

Bytes resting(const program::States& states) {
  return states.weights + states.adapters + states.master + states.optimizer;
}

/// Those whose states rest on this rank: temporaries are one tensor in the moments' type for each.
std::int64_t StageWalk::trained_parameters(const program::States& states) const {
  constexpr std::int64_t bits_of_byte = 8;
  return quantity::product(bits_of_byte, in_bytes(states.moment_temporaries)) /
         formats::facts(question_.training.precision.moments).bits;
}

StageWalk::Stage StageWalk::lay_out(BlockRuns runs) const {
  Stage stage{passes_of(runs)};
  stage.elsewhere.host += stage.passes.kept.left;
  add_states(stage);
  return stage;
}

StageWalk::Passes StageWalk::passes_of(BlockRuns runs) const {
  Passes passes{.runs = runs};
  for (const auto& [block, count] : runs) {
    passes.blocks += count;
    (is_head(block) ? passes.kept.head : passes.kept.layers) += count * walk_of(block).kept;
    passes.kept.deferred += count * walk_of(block).deferred;
    if (rules_.keeps_last_graph) passes.last_graph += count * walk_of(block).kept_by_nodes;
  }
  for (std::size_t r = 0; rules_.offload.activations && r < runs.size(); ++r) {
    passes.kept.left += leaving_blocks(passes, r) * walk_of(runs[r].block).kept;
  }
  passes.kept.buffers = checkpoint_buffers(passes) + score_buffer(question_, profile_);
  if (!prices_.companions.empty() || rules_.gathers_all) passes.companions = companion_passes(prices_, rules_, runs);
  return passes;
}

void StageWalk::add_states(Stage& stage) const {
  for (const auto& [block, count] : stage.passes.runs) {
    stage.states.add(weights_of(block).states, count);
    if (rules_.streams_weights && stays_whole(block)) stage.passes.root += count * weights_of(block).gathered;
    if (rules_.sharding.gathers_once()) stage.passes.root += count * weights_of(block).gathered;
    stage.flat_gradients += count * flat_gradients(block);
  }
  if (profile_.step.updates_in_backward) stage.states.gradients = stage.states.wide_gradients = bytes(0);
  if (!profile_.step.widens_gradients) stage.states.gradient_copies = bytes(0);
  if (profile_.allocator.allocates_tensors && !rules_.streams_weights) {
    stage.slack = stage.states.slack.total();
    stage.moment_slack = stage.states.moment_slack.total();
  }
  const std::int64_t trained = trained_parameters(stage.states);
  stage.elsewhere += program::move_out(stage.states, rules_.offload);
  stage.elsewhere.host += program::swap_buffers(rules_.offload, trained);
  stage.scratch = prices_.weights->scratch.of(stage.passes.runs);
  stage.buffers = prices_.weights->workspace + bucket_copy(profile_, rules_.sharding, stage.states.gradients) +
                  prices_.weights->zero.always + stage.slack + stage.moment_slack;
  stage.between_steps = stage.buffers;
  if (!prices_.companions.empty()) add_companions(stage);
}

/// Parts that a stage has by its place in the pipeline.
void StageWalk::place(Stage& stage, std::int64_t index) const {
  const Bytes in_flight = activations_in_flight(stage.passes.kept, question_, index);
  const Bytes waiting = left_of(in_flight, stage.passes.kept);
  stage.passes.in_flight = in_flight - waiting;
  stage.elsewhere.host += waiting;
  const StageTensors tensors = stage_tensors(question_, profile_, index);
  stage.buffers += tensors.in_step + stage.passes.kept.buffers;
  stage.between_steps += tensors.between_steps + stage.passes.kept.buffers;
}

/// The states of further models follow the rules of the trained model's.
void StageWalk::add_companions(Stage& stage) const {
  stage.companions = companion_states(prices_, stage.passes.runs);
  auto& value = stage.companions.value;
  if (profile_.step.updates_in_backward) value.gradients = bytes(0);
  if (!profile_.step.widens_gradients) value.gradient_copies = bytes(0);
  for (auto* states : {&stage.companions.reference, &stage.companions.reward, &value}) {
    stage.elsewhere += program::move_out(*states, rules_.offload);
  }
  stage.states.moment_temporaries += value.moment_temporaries;
  stage.states.gradient_copies += value.gradient_copies;
}

/// DeepSpeed's stage 3 steps group by group, so that no more gradients than a group's exist in fp32.
Bytes StageWalk::step_temporaries(const Stage& stage) const {
  Bytes sum = stage.states.moment_temporaries * profile_.step.temporaries + prices_.weights->zero.step;
  Bytes widened = stage.states.gradient_copies;
  if (question_.layout.sharding == spec::Sharding::zero3 && profile_.exchange.zero.step_group > 0) {
    widened = std::min(widened, bytes(quantity::product(profile_.exchange.zero.step_group, layers::fp32_width)));
  }
  if (profile_.kernels.have_workspace) sum += stage.states.update_scratch;
  return sum + widened;
}

Moment StageWalk::optimizer_step(const Stage& stage) const {
  Moment moment;
  moment.weights = stage.states.weights;
  moment.adapters = stage.states.adapters;
  moment.master = stage.states.master;
  moment.gradients = stage.states.gradients;
  moment.optimizer = stage.states.optimizer;
  moment.temporaries = step_temporaries(stage);
  moment.workspace = stage.between_steps + stage.scratch;
  moment.reference = resting(stage.companions.reference);
  moment.reward = resting(stage.companions.reward);
  moment.value = resting(stage.companions.value) + stage.companions.value.gradients;
  return moment;
}

/// Memory that every moment of a steady step has in common.
Moment StageWalk::resident(const Stage& stage) const {
  Moment moment = optimizer_step(stage);
  moment.temporaries = bytes(0);
  moment.workspace = stage.buffers + stage.scratch;
  if (profile_.gradients.drops_wide) moment.gradients -= stage.states.wide_gradients;
  if (stage.flat_gradients > bytes(0)) moment.gradients = stage.flat_gradients;
  if (rules_.gradients_resident) return moment;
  moment.gradients = bytes(0);
  moment.value -= stage.companions.value.gradients;
  return moment;
}

}  // namespace llmcalc::memory
