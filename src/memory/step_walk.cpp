#include "llmcalc/memory/step_walk.hpp"

#include "memory/buffers.hpp"
#include "memory/in_flight.hpp"

#include <algorithm>

namespace llmcalc::memory {

using program::Block;
using program::Profile;
using program::Program;
using quantity::Bytes;
using quantity::bytes;

namespace {

/// How the gradients of weights are made. Sharded weights have theirs whole until the layer has been reduced.
WeightGradients gradient_policy(const spec::Training& training, const Profile& profile, const Sharding& sharding) {
  const std::int64_t grads = quantity::in_bytes(spec::storage_bytes(training.precision.grads, 1));
  const std::int64_t product = training.precision.compute == spec::Dtype::fp32 ? 4 : 2;
  if (sharding.gathers_weights()) return {true, product, product, product};
  if (profile.persistent_gradients) return {false, profile.fused_gradient_accumulation ? 0 : product, product, 0};
  const bool exists_already = training.grad_accum > 1;
  return {!exists_already, product, product, exists_already ? 0 : grads};
}

/// Replaces the peak of a phase if `alive` is higher.
void raise(PhasePeak& peak, Phase phase, std::size_t position, const Moment& alive) {
  if (peak.alive.total() >= alive.total()) return;
  peak = {phase, static_cast<std::int64_t>(position), alive};
}

const PhasePeak& highest(const std::array<PhasePeak, phase_count>& peaks) {
  return *std::ranges::max_element(peaks, {}, [](const PhasePeak& p) { return p.alive.total(); });
}

}  // namespace

/// What one pipeline rank holds besides the blocks' own walks.
struct StepWalk::Stage {
  std::vector<std::size_t> positions;  ///< of the sequence, in forward order
  States states;
  Bytes kept;       ///< by all its blocks for one micro-batch
  Bytes in_flight;  ///< kept by other micro-batches that are forwarded and not yet backwarded
  Bytes root;       ///< gathered weights outside the layers: one unit, whole from the first layer to the last
  Bytes buffers;
};

StepWalk::StepWalk(const Program& program, const spec::Question& question, const Profile& profile)
    : program_(program),
      question_(question),
      profile_(profile),
      sharding_(question.layout),
      gradients_resident_(profile.persistent_gradients || question.training.grad_accum > 1),
      retains_inputs_(profile.retains_frozen_inputs && sharding_.gathers_weights()) {
  const auto& training = question.training;
  const WeightGradients policy = gradient_policy(training, profile, sharding_);
  for (const Block& block : program.blocks) {
    walks_.push_back(walk_block(block, policy));
    states_.push_back(block_states(block, training, sharding_));
    gathered_.push_back(sharding_.gathers_weights() ? gathered_weights(block, training) : bytes(0));
  }
}

StepWalk::Stage StepWalk::lay_out(std::int64_t index) const {
  Stage stage;
  auto layers_kept = bytes(0);
  for (std::size_t chunk = static_cast<std::size_t>(index); chunk < program_.chunks.size();
       chunk += static_cast<std::size_t>(program_.stages)) {
    for (std::size_t i = program_.chunks[chunk].first; i < program_.chunks[chunk].last; ++i) {
      stage.positions.push_back(i);
      stage.states += states_[program_.sequence[i]];
      stage.kept += at(i).kept;
      if (!is_head(i)) layers_kept += at(i).kept;
      if (is_root(i)) stage.root += gathered_[program_.sequence[i]];
    }
  }
  stage.in_flight = activations_in_flight(layers_kept, question_, index);
  stage.buffers = persistent_buffers(program_, question_, profile_, stage.states);
  return stage;
}

void StepWalk::forward(const Stage& stage, const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const {
  Moment alive = resident;
  for (std::size_t n = 0; n < stage.positions.size(); ++n) {
    const std::size_t i = stage.positions[n];
    Moment moment = alive;
    (is_head(i) ? moment.logits : moment.temporaries) += at(i).forward_peak;
    moment.temporaries += gathered(i);
    if (n + 1 < stage.positions.size()) moment.temporaries += gathered(stage.positions[n + 1]);
    const Phase phase = is_head(i) ? Phase::loss : Phase::forward;
    raise(peaks[static_cast<std::size_t>(phase)], phase, i, moment);
    alive.activations += at(i).kept;
  }
}

/// The head's backward is the moment of the widest gradients; it belongs to the backward phase.
void StepWalk::backward(const Stage& stage, const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const {
  Moment alive = resident;
  alive.activations += stage.kept;
  if (profile_.dummy_weight_gradients) alive.workspace += dummy_gradients(program_);
  for (std::size_t n = stage.positions.size(); n-- > 0;) {
    const std::size_t i = stage.positions[n];
    alive.activations -= at(i).kept;
    Moment moment = alive;
    if (is_head(i)) {
      moment.logits += at(i).backward_peak;
    } else {
      moment.activations += at(i).kept;
      moment.temporaries += at(i).backward_peak - at(i).kept;
    }
    moment.temporaries += gathered(i);
    if (n > 0) moment.temporaries += gathered(stage.positions[n - 1]);
    raise(peaks[static_cast<std::size_t>(Phase::backward)], Phase::backward, i, moment);
    if (retains_inputs_ && !is_root(i)) alive.activations += at(i).kept + at(i).input_gradient;
    const bool reduced = sharding_.gathers_weights();
    alive.gradients += reduced ? states_[program_.sequence[i]].gradients : at(i).weight_gradients;
  }
}

Moment StepWalk::optimizer_step(const Stage& stage) const {
  Moment moment;
  moment.weights = stage.states.weights;
  moment.master = stage.states.master;
  moment.gradients = stage.states.gradients;
  moment.optimizer = stage.states.optimizer;
  moment.temporaries = stage.states.moment_temporaries * profile_.optimizer_temporaries;
  moment.workspace = stage.buffers;
  return moment;
}

std::array<PhasePeak, phase_count> StepWalk::phases(const Stage& stage, const Moment& resident) const {
  std::array<PhasePeak, phase_count> peaks;
  for (std::size_t i = 0; i < phase_count; ++i) peaks[i].phase = static_cast<Phase>(i);
  Moment in_step = resident;
  in_step.activations += stage.in_flight;
  in_step.temporaries += stage.root;
  forward(stage, in_step, peaks);
  backward(stage, in_step, peaks);
  raise(peaks[static_cast<std::size_t>(Phase::optimizer)], Phase::optimizer, 0, optimizer_step(stage));
  return peaks;
}

StepMemory StepWalk::walk(std::int64_t index) const {
  const Stage stage = lay_out(index);
  StepMemory memory;
  memory.stage = index;
  Moment resident = optimizer_step(stage);
  resident.temporaries = bytes(0);
  memory.persistent = resident;
  if (!gradients_resident_) resident.gradients = bytes(0);
  const bool kept_between_steps = profile_.persistent_gradients || sharding_.gathers_weights();
  if (!kept_between_steps) memory.persistent.gradients = bytes(0);
  memory.steady = phases(stage, resident);
  resident.optimizer = bytes(0);
  memory.first_step = phases(stage, resident);
  return memory;
}

Bytes Moment::total() const {
  return weights + master + gradients + optimizer + activations + logits + temporaries + workspace;
}

const PhasePeak& StepMemory::peak() const { return highest(steady); }
const PhasePeak& StepMemory::first_peak() const { return highest(first_step); }

}  // namespace llmcalc::memory
