#include "llmcalc/memory/step_walk.hpp"

#include "memory/buffers.hpp"
#include "memory/in_flight.hpp"
#include "memory/zero_buffers.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::memory {

using program::Block;
using program::Profile;
using program::Program;
using quantity::Bytes;
using quantity::bytes;

namespace {

constexpr std::int64_t half_width = 2;
constexpr std::int64_t fp32_width = 4;

/// How the gradients of weights are made. Sharded weights have theirs whole until the layer has been reduced; engines
/// with a bucket copy each gradient into it, and an update in the backward pass leaves nothing behind.
WeightGradients gradient_policy(const spec::Training& training, const Profile& profile,
                                const program::Sharding& sharding, bool streams_weights) {
  const std::int64_t grads = quantity::in_bytes(spec::storage_bytes(training.precision.grads, 1));
  const std::int64_t product = training.precision.compute == spec::Dtype::fp32 ? 4 : 2;
  const bool goes_to_bucket = profile.zero.reduce_bucket > 0 && sharding.shards_gradients();
  if (profile.updates_in_backward || goes_to_bucket) return {false, product, product, 0};
  if (streams_weights) return {true, product, product, product};
  if (profile.persistent_gradients) return {false, profile.fused_gradient_accumulation ? 0 : product, product, 0};
  const bool exists_already = training.grad_accum > 1;
  return {!exists_already, product, product, exists_already ? 0 : grads};
}

/// DeepSpeed's stage 3 has its partition of gradients from the start (runtime/zero/stage3.py,
/// grad_partitions_flat_buffer).
bool has_gradient_buffer(const spec::Question& question, const Profile& profile) {
  const bool partitioned = profile.zero.reduce_bucket > 0 && question.layout.sharding == spec::Sharding::zero3;
  return profile.persistent_gradients || partitioned;
}

/// Gradients of the micro-batches before are there.
bool accumulates(const spec::Question& question, const Profile& profile) {
  return question.training.grad_accum > 1 && !profile.updates_in_backward;
}

bool holds_flat_gradients(const spec::Question& question, const Profile& profile, const program::Sharding& sharding) {
  return profile.accumulates_whole_gradients && sharding.gathers_weights() && question.training.grad_accum > 1;
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
  program::States states;
  Bytes kept;       ///< by all its blocks for one micro-batch
  Bytes in_flight;  ///< kept by other micro-batches that are forwarded and not yet backwarded
  Bytes root;       ///< gathered weights outside the layers: one unit, whole from the first layer to the last
  Bytes buffers;
  ZeroBuffers zero;
  Bytes host;
};

StepWalk::StepWalk(const Program& program, const spec::Question& question, const Profile& profile)
    : program_(program),
      question_(question),
      profile_(profile),
      sharding_(question.layout),
      offload_(make_offload(question, profile)),
      differentiates_(question.training.method != spec::Method::inference &&
                      question.training.method != spec::Method::forward_only),
      gradients_resident_(has_gradient_buffer(question, profile) || accumulates(question, profile)),
      streams_weights_(sharding_.gathers_weights() || offload_.weights),
      retains_inputs_(profile.retains_frozen_inputs && sharding_.gathers_weights()) {
  const auto& training = question.training;
  const WeightGradients policy = gradient_policy(training, profile, sharding_, streams_weights_);
  for (const Block& block : program.blocks) {
    walks_.push_back(walk_block(block, policy));
    states_.push_back(program::block_states(block, training, sharding_));
    gathered_.push_back(streams_weights_ ? gathered_weights(block, training) : bytes(0));
    flat_gradients_.push_back(holds_flat_gradients(question, profile, sharding_) ? flat_gradient(block) : bytes(0));
  }
}

StepWalk::Stage StepWalk::lay_out(std::int64_t index) const {
  Stage stage;
  auto layers_kept = bytes(0);
  auto flat_gradients = bytes(0);
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
  for (const std::size_t i : stage.positions) flat_gradients += flat_gradients_[program_.sequence[i]];
  if (flat_gradients > bytes(0)) stage.states.gradients = flat_gradients;
  stage.in_flight = activations_in_flight(layers_kept, question_, index);
  if (profile_.updates_in_backward) stage.states.gradients = bytes(0);
  if (!profile_.widens_gradients_at_step) stage.states.gradient_copies = bytes(0);
  stage.host = move_to_host(stage.states, offload_);
  if (offload_.activations) stage.host += stage.kept + std::exchange(stage.in_flight, bytes(0));
  stage.zero = zero_buffers(program_, question_, profile_.zero);
  stage.buffers = persistent_buffers(program_, question_, profile_, stage.states) + stage.zero.always;
  return stage;
}

/// The weights of the next block on their way while another runs; DeepSpeed fetches so many elements ahead.
Bytes StepWalk::prefetched(std::size_t position) const {
  const Bytes whole = gathered(position);
  const std::int64_t ahead = profile_.zero.prefetch_bucket;
  return ahead == 0 ? whole : std::min(whole, bytes(quantity::product(ahead, half_width)));
}

/// Offloaded activations are on the accelerator for the layer that runs and for the one before it, whose copy is on its
/// way (torchtune training/_activation_offloading.py; DeepSpeed activation_checkpointing, cpu_checkpointing).
template <class Visit>
void StepWalk::forward(const Stage& stage, const Moment& resident, const Visit& visit) const {
  Moment alive = resident;
  for (std::size_t n = 0; n < stage.positions.size(); ++n) {
    const std::size_t i = stage.positions[n];
    Moment moment = alive;
    (is_head(i) ? moment.logits : moment.temporaries) += at(i).forward_peak;
    moment.temporaries += gathered(i);
    if (n + 1 < stage.positions.size()) moment.temporaries += prefetched(stage.positions[n + 1]);
    visit(is_head(i) ? Phase::loss : Phase::forward, i, moment);
    alive.activations = (offload_.activations ? resident.activations : alive.activations) + at(i).kept;
  }
}

/// The head's backward is the moment of the widest gradients; it belongs to the backward phase.
template <class Visit>
void StepWalk::backward(const Stage& stage, const Moment& resident, const Visit& visit) const {
  Moment alive = resident;
  if (!offload_.activations) alive.activations += stage.kept;
  alive.workspace += stage.zero.backward;
  if (profile_.dummy_weight_gradients) alive.workspace += dummy_gradients(program_);
  for (std::size_t n = stage.positions.size(); n-- > 0;) {
    const std::size_t i = stage.positions[n];
    if (!offload_.activations) alive.activations -= at(i).kept;
    Moment moment = alive;
    if (offload_.activations && n > 0) moment.activations += at(stage.positions[n - 1]).kept;
    if (is_head(i)) {
      moment.logits += at(i).backward_peak;
    } else {
      moment.activations += at(i).kept;
      moment.temporaries += at(i).backward_peak - at(i).kept;
    }
    moment.temporaries += gathered(i) + flat_gradients_[program_.sequence[i]];
    if (n > 0) moment.temporaries += prefetched(stage.positions[n - 1]);
    visit(Phase::backward, i, moment);
    if (retains_inputs_ && !is_root(i)) alive.activations += at(i).kept + at(i).input_gradient;
    alive.gradients += left_behind(i);
    alive.logits += program_.blocks[program_.sequence[i]].held_by_loop;
  }
}

/// What the backward pass of a block leaves of its weights' gradients beside those that were there before.
Bytes StepWalk::left_behind(std::size_t position) const {
  if (offload_.gradients || gradients_resident_ || profile_.updates_in_backward) return bytes(0);
  const bool reduced = streams_weights_ || sharding_.shards_gradients();
  return reduced ? states_[program_.sequence[position]].gradients : at(position).weight_gradients;
}

/// DeepSpeed's stage 3 steps group by group, so that no more gradients than a group's exist in fp32.
Bytes StepWalk::step_temporaries(const Stage& stage) const {
  Bytes sum = stage.states.moment_temporaries * profile_.optimizer_temporaries + stage.zero.step;
  Bytes widened = stage.states.gradient_copies;
  if (question_.layout.sharding == spec::Sharding::zero3 && profile_.zero.step_group > 0) {
    widened = std::min(widened, bytes(quantity::product(profile_.zero.step_group, fp32_width)));
  }
  if (profile_.models_kernel_workspace) sum += stage.states.update_scratch;
  return sum + widened;
}

Moment StepWalk::optimizer_step(const Stage& stage) const {
  Moment moment;
  moment.weights = stage.states.weights;
  moment.master = stage.states.master;
  moment.gradients = stage.states.gradients;
  moment.optimizer = stage.states.optimizer;
  moment.temporaries = step_temporaries(stage);
  moment.workspace = stage.buffers;
  return moment;
}

template <class Visit>
void StepWalk::visit_step(const Stage& stage, const Moment& resident, const Visit& visit) const {
  Moment in_step = resident;
  in_step.activations += stage.in_flight;
  in_step.temporaries += stage.root;
  forward(stage, in_step, visit);
  if (!differentiates_) return;
  backward(stage, in_step, visit);
  visit(Phase::optimizer, std::size_t{0}, optimizer_step(stage));
}

std::array<PhasePeak, phase_count> StepWalk::phases(const Stage& stage, const Moment& resident) const {
  std::array<PhasePeak, phase_count> peaks;
  for (std::size_t i = 0; i < phase_count; ++i) peaks[i].phase = static_cast<Phase>(i);
  visit_step(stage, resident, [&](Phase phase, std::size_t position, const Moment& moment) {
    raise(peaks[static_cast<std::size_t>(phase)], phase, position, moment);
  });
  return peaks;
}

/// What every moment of a steady step has in common.
Moment StepWalk::resident(const Stage& stage) const {
  Moment moment = optimizer_step(stage);
  moment.temporaries = bytes(0);
  if (!gradients_resident_) moment.gradients = bytes(0);
  return moment;
}

StepMemory StepWalk::walk(std::int64_t index) const {
  const Stage stage = lay_out(index);
  StepMemory memory;
  memory.stage = index;
  Moment in_step = resident(stage);
  memory.persistent = in_step;
  memory.host = stage.host;
  memory.paged = stage.states.paged;
  const bool kept_between_steps = has_gradient_buffer(question_, profile_) || sharding_.gathers_weights();
  memory.persistent.gradients = kept_between_steps ? stage.states.gradients : bytes(0);
  memory.steady = phases(stage, in_step);
  in_step.optimizer = bytes(0);
  memory.first_step = phases(stage, in_step);
  return memory;
}

std::vector<TimelinePoint> StepWalk::timeline(std::int64_t index) const {
  const Stage stage = lay_out(index);
  std::vector<TimelinePoint> points;
  visit_step(stage, resident(stage), [&](Phase phase, std::size_t position, const Moment& moment) {
    points.push_back({phase, static_cast<std::int64_t>(position), moment.total()});
  });
  return points;
}

Bytes Moment::total() const {
  return weights + master + gradients + optimizer + activations + logits + temporaries + workspace;
}

const PhasePeak& StepMemory::peak() const { return highest(steady); }
const PhasePeak& StepMemory::first_peak() const { return highest(first_step); }

}  // namespace llmcalc::memory
