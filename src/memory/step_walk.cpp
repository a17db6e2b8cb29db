#include "llmcalc/memory/step_walk.hpp"

#include "llmcalc/memory/block_walk.hpp"

#include <algorithm>
#include <vector>

namespace llmcalc::memory {

using program::Block;
using program::Profile;
using program::Program;
using quantity::Bytes;
using quantity::bytes;

namespace {

WeightGradients gradient_policy(const spec::Training& training, const Profile& profile) {
  const std::int64_t grads = quantity::in_bytes(spec::storage_bytes(training.precision.grads, 1));
  const std::int64_t product = training.precision.compute == spec::Dtype::fp32 ? 4 : 2;
  if (profile.persistent_gradients) return {false, profile.fused_gradient_accumulation ? 0 : product, 0};
  const bool exists_already = training.grad_accum > 1;
  return {!exists_already, product, exists_already ? 0 : grads};
}

/// Distinct matrix shapes get one 16-bit scratch gradient each (TransformerEngine pytorch/module/base.py,
/// get_dummy_wgrad).
Bytes dummy_gradients(const Program& program) {
  constexpr std::int64_t width = 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
  auto sum = bytes(0);
  for (const Block& block : program.blocks) {
    for (const auto& weight : block.weights) {
      if (weight.rows <= 1 || weight.columns <= 1 || weight.table || !weight.trainable) continue;
      const std::pair shape{weight.rows, weight.columns};
      if (std::ranges::find(shapes, shape) != shapes.end()) continue;
      shapes.push_back(shape);
      sum += bytes(quantity::product(weight.rows, weight.columns, width));
    }
  }
  return sum;
}

/// Everything the step's moments are put together from.
class StepWalk {
 public:
  StepWalk(const Program& program, const spec::Training& training, const Profile& profile);

  StepMemory walk() const;

 private:
  std::array<PhasePeak, phase_count> phases(const Moment& resident) const;
  void forward(const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const;
  void backward(const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const;
  Moment optimizer_step() const;
  Bytes kept_by_all() const;
  bool is_head(std::size_t position) const { return position + 1 == program_.sequence.size(); }
  const BlockWalk& at(std::size_t position) const { return walks_[program_.sequence[position]]; }

  const Program& program_;
  const Profile& profile_;
  std::vector<BlockWalk> walks_;
  States states_;
  Bytes buffers_;
  bool gradients_resident_;
};

StepWalk::StepWalk(const Program& program, const spec::Training& training, const Profile& profile)
    : program_(program), profile_(profile), gradients_resident_(profile.persistent_gradients || training.grad_accum > 1) {
  const WeightGradients policy = gradient_policy(training, profile);
  std::vector<States> states;
  for (const Block& block : program.blocks) {
    walks_.push_back(walk_block(block, policy));
    states.push_back(block_states(block, training));
  }
  for (const std::uint16_t index : program.sequence) states_ += states[index];
  buffers_ = profile.workspace;
  if (profile.dummy_weight_gradients) buffers_ += dummy_gradients(program);
}

Bytes StepWalk::kept_by_all() const {
  auto sum = bytes(0);
  for (std::size_t i = 0; i < program_.sequence.size(); ++i) sum += at(i).kept;
  return sum;
}

/// Replaces the peak of a phase if `alive` is higher.
void raise(PhasePeak& peak, Phase phase, std::size_t position, const Moment& alive) {
  if (peak.alive.total() >= alive.total()) return;
  peak = {phase, static_cast<std::int64_t>(position), alive};
}

void StepWalk::forward(const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const {
  Moment alive = resident;
  for (std::size_t i = 0; i < program_.sequence.size(); ++i) {
    Moment moment = alive;
    (is_head(i) ? moment.logits : moment.temporaries) += at(i).forward_peak;
    const Phase phase = is_head(i) ? Phase::loss : Phase::forward;
    raise(peaks[static_cast<std::size_t>(phase)], phase, i, moment);
    alive.activations += at(i).kept;
  }
}

/// The head's backward is the moment of the widest gradients; it belongs to the backward phase.
void StepWalk::backward(const Moment& resident, std::array<PhasePeak, phase_count>& peaks) const {
  Moment alive = resident;
  alive.activations += kept_by_all();
  for (std::size_t i = program_.sequence.size(); i-- > 0;) {
    alive.activations -= at(i).kept;
    Moment moment = alive;
    if (is_head(i)) {
      moment.logits += at(i).backward_peak;
    } else {
      moment.activations += at(i).kept;
      moment.temporaries += at(i).backward_peak - at(i).kept;
    }
    raise(peaks[static_cast<std::size_t>(Phase::backward)], Phase::backward, i, moment);
    alive.gradients += at(i).weight_gradients;
  }
}

Moment StepWalk::optimizer_step() const {
  Moment moment;
  moment.weights = states_.weights;
  moment.master = states_.master;
  moment.gradients = states_.gradients;
  moment.optimizer = states_.optimizer;
  moment.temporaries = states_.moment_temporaries * profile_.optimizer_temporaries;
  moment.workspace = buffers_;
  return moment;
}

std::array<PhasePeak, phase_count> StepWalk::phases(const Moment& resident) const {
  std::array<PhasePeak, phase_count> peaks;
  for (std::size_t i = 0; i < phase_count; ++i) peaks[i].phase = static_cast<Phase>(i);
  forward(resident, peaks);
  backward(resident, peaks);
  raise(peaks[static_cast<std::size_t>(Phase::optimizer)], Phase::optimizer, 0, optimizer_step());
  return peaks;
}

StepMemory StepWalk::walk() const {
  StepMemory memory;
  Moment resident = optimizer_step();
  resident.temporaries = bytes(0);
  memory.persistent = resident;
  if (!gradients_resident_) resident.gradients = bytes(0);
  if (!profile_.persistent_gradients) memory.persistent.gradients = bytes(0);
  memory.steady = phases(resident);
  resident.optimizer = bytes(0);
  memory.first_step = phases(resident);
  return memory;
}

const PhasePeak& highest(const std::array<PhasePeak, phase_count>& peaks) {
  return *std::ranges::max_element(peaks, {}, [](const PhasePeak& p) { return p.alive.total(); });
}

}  // namespace

Bytes Moment::total() const {
  return weights + master + gradients + optimizer + activations + logits + temporaries + workspace;
}

const PhasePeak& StepMemory::peak() const { return highest(steady); }
const PhasePeak& StepMemory::first_peak() const { return highest(first_step); }

StepMemory walk_step(const Program& program, const spec::Training& training, const Profile& profile) {
  return StepWalk(program, training, profile).walk();
}

}  // namespace llmcalc::memory
