#include "memory/inner/stage.hpp"

#include "layers/widths.hpp"
#include "memory/inner/buffers.hpp"
#include "memory/inner/in_flight.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;

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
  if (!prices_.companions.empty()) passes.companions = companion_passes(prices_, rules_, runs);
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
  stage.buffers = prices_.weights->workspace + score_buffer(question_, profile_) +
                  bucket_copy(profile_, rules_.sharding, stage.states.gradients) + prices_.weights->zero.always +
                  stage.slack + stage.moment_slack;
  stage.between_steps = stage.buffers;
  if (!prices_.companions.empty()) add_companions(stage);
}

/// What a stage has by its place in the pipeline.
void StageWalk::place(Stage& stage, std::int64_t index) const {
  const Bytes in_flight = activations_in_flight(stage.passes.kept, question_, index);
  const Bytes waiting = left_of(in_flight, stage.passes.kept);
  stage.passes.in_flight = in_flight - waiting;
  stage.elsewhere.host += waiting;
  const StageTensors tensors = stage_tensors(question_, profile_, index);
  stage.buffers += tensors.in_step;
  stage.between_steps += tensors.between_steps;
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

/// What every moment of a steady step has in common.
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
