#include "memory/stage_walk.hpp"

#include "layers/widths.hpp"
#include "memory/inner/stage.hpp"

#include <algorithm>

namespace llmcalc::memory {

using quantity::Bytes;
using quantity::bytes;

namespace {

/// A unit's flat gradient is concatenated from those of its weights, with zeros for the frozen ones (pytorch
/// torch/csrc/autograd/FunctionsManual.cpp, split_with_sizes_backward).
constexpr std::int64_t flat_gradient_pieces = 2;

/// Replaces the peak of a phase if `alive` is higher.
void raise(PeakMoment& peak, Phase phase, std::int64_t position, const Moment& alive) {
  if (peak.alive.total() >= alive.total()) return;
  peak = {phase, position, alive};
}

const PeakMoment& highest(const std::array<PeakMoment, phase_count>& peaks) {
  return *std::ranges::max_element(peaks, {}, [](const PeakMoment& p) { return p.alive.total(); });
}

/// A walk adds up what is alive part by part, or, for a search that asks for the peak alone, in one sum.
template <Bytes Moment::*member>
Bytes& part(Moment& alive) {
  return alive.*member;
}
template <Bytes Moment::*member>
Bytes& part(Bytes& alive) {
  return alive;
}

/// Calls visit(i) for i from 0 to count - 1, or only for the first two and the last two.
template <class Visit>
void count_up(std::int64_t count, bool all, const Visit& visit) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!all && i == 2) i = std::max(i, count - 2);
    visit(i);
  }
}

/// So many times what one block leaves behind.
template <class Alive, class Growth>
void grow(Alive& alive, const Growth& growth, std::int64_t times) {
  part<&Moment::activations>(alive) += times * growth.activations;
  part<&Moment::gradients>(alive) += times * growth.gradients;
  part<&Moment::logits>(alive) += times * growth.logits;
}

/// The pass of a model beside the trained one, which takes so many bytes.
template <class Alive, class Visit>
void visit_pass(Phase phase, std::int64_t position, Alive alive, Bytes size, const Visit& visit) {
  if (size == bytes(0)) return;
  part<&Moment::temporaries>(alive) += size;
  visit(phase, position, alive);
}

}  // namespace

/// The weights of the next block on their way while another runs; DeepSpeed fetches so many elements ahead.
Bytes StageWalk::prefetched(std::uint16_t block) const {
  const Bytes whole = gathered(block);
  const std::int64_t ahead = profile_.exchange.zero.prefetch_bucket;
  return ahead == 0 ? whole : std::min(whole, bytes(quantity::product(ahead, layers::half_width)));
}

StageWalk::Arrival StageWalk::arriving(std::uint16_t block, bool left) const {
  return {left && !comes_into_buffer(block) ? walk_of(block).kept : bytes(0), prefetched(block)};
}

bool StageWalk::comes_into_buffer(std::uint16_t block) const {
  return profile_.loop.checkpoint_buffers > 0 && is_layer(block);
}

/// Buffers of the layers whose checkpoints rest on the host.
Bytes StageWalk::checkpoint_buffers(const Passes& stage) const {
  Bytes largest;
  for (std::size_t r = 0; r < stage.runs.size(); ++r) {
    const std::uint16_t block = stage.runs[r].block;
    if (is_layer(block) && leaving_blocks(stage, r) > 0) largest = std::max(largest, walk_of(block).kept);
  }
  return profile_.loop.checkpoint_buffers * largest;
}

/// Blocks of a run, from the first on, whose activations leave for the host.
std::int64_t StageWalk::leaving_blocks(const Passes& stage, std::size_t run) const {
  const program::Offloaded& offload = rules_.offload;
  if (!offload.activations) return 0;
  const std::int64_t count = stage.runs[run].count;
  if (offload.layers == program::Offloaded::unlimited) return count;
  if (!is_layer(stage.runs[run].block)) return 0;
  std::int64_t before = 0;
  for (std::size_t r = 0; r < run; ++r) before += is_layer(stage.runs[r].block) ? stage.runs[r].count : 0;
  return std::clamp<std::int64_t>(offload.layers - before, 0, count);
}

bool StageWalk::last_leaves(const Passes& stage, std::size_t run) const {
  return leaving_blocks(stage, run) == stage.runs[run].count;
}

StageWalk::Growth StageWalk::left_by(std::uint16_t block) const {
  const BlockWalk& walk = walk_of(block);
  const Bytes retained = rules_.retains_inputs && !is_root(block) ? walk.kept + walk.input_gradient : bytes(0);
  return {retained + walk.deferred, gradients_left_by(block), walk.held_by_loop};
}

/// Gradients of its weights that a block's backward pass leaves beside those that were there before.
Bytes StageWalk::gradients_left_by(std::uint16_t block) const {
  if (rules_.offload.gradients) return bytes(0);
  const Bytes awaiting = walk_of(block).awaiting_gradient;
  if (rules_.gradients_resident || profile_.step.updates_in_backward) return awaiting;
  if (rules_.flat_gradients) return flat_gradients(block);
  const bool reduced = rules_.streams_weights || rules_.sharding.shards_gradients();
  return awaiting + (reduced ? weights_of(block).states.gradients : walk_of(block).weight_gradients);
}

/// Offloaded activations are on the accelerator for the layer that runs and for the one before it, whose copy is on its
/// way (torchtune training/_activation_offloading.py; DeepSpeed activation_checkpointing, cpu_checkpointing).
template <class Alive, class Visit>
void StageWalk::forward(const Passes& stage, Alive alive, Visits visits, const Visit& visit) const {
  Bytes leaving;
  std::int64_t first = 0;
  for (std::size_t r = 0; r < stage.runs.size(); ++r) {
    const std::uint16_t block = stage.runs[r].block;
    const std::int64_t count = stage.runs[r].count;
    const BlockWalk& walk = walk_of(block);
    const Bytes ahead = prefetched(block);
    const Bytes last_ahead = r + 1 < stage.runs.size() ? prefetched(stage.runs[r + 1].block) : bytes(0);
    const std::int64_t left = leaving_blocks(stage, r);
    Alive running = alive;
    (is_head(block) ? part<&Moment::logits>(running) : part<&Moment::temporaries>(running)) += walk.forward_peak;
    part<&Moment::temporaries>(running) += gathered(block);
    count_up(count, visits == Visits::all, [&](std::int64_t n) {
      Alive moment = running;
      const Bytes on_its_way = n == 0 ? leaving : n <= left ? walk.kept : bytes(0);
      part<&Moment::activations>(moment) += on_its_way + std::max<std::int64_t>(0, n - left) * walk.kept;
      part<&Moment::temporaries>(moment) += n + 1 < count ? ahead : last_ahead;
      visit(is_head(block) ? Phase::loss : Phase::forward, first + n, moment);
    });
    first += count;
    leaving = left == count ? walk.kept : bytes(0);
    part<&Moment::activations>(alive) += (count - left) * walk.kept;
  }
}

/// The head's backward is the moment of the widest gradients; it belongs to the backward phase.
template <class Alive, class Visit>
void StageWalk::backward(const Passes& stage, Alive alive, Visits visits, const Visit& visit) const {
  part<&Moment::activations>(alive) += stage.kept.total() - stage.kept.left;
  part<&Moment::workspace>(alive) += prices_.weights->zero.backward;
  std::int64_t last = stage.blocks - 1;
  for (std::size_t r = stage.runs.size(); r-- > 0;) {
    const std::uint16_t block = stage.runs[r].block;
    const std::int64_t count = stage.runs[r].count;
    const BlockWalk& walk = walk_of(block);
    const Growth growth = left_by(block);
    const std::int64_t staying = count - leaving_blocks(stage, r);
    const Arrival before = r > 0 ? arriving(stage.runs[r - 1].block, last_leaves(stage, r - 1)) : Arrival{};
    count_up(count, visits == Visits::all, [&](std::int64_t n) {
      const Arrival next = n + 1 < count ? arriving(block, n + 1 >= staying) : before;
      Alive moment = alive;
      add_backward_peak(block, n >= staying, moment);
      grow(moment, growth, n);
      part<&Moment::activations>(moment) -= std::min(n, staying) * walk.kept;
      part<&Moment::activations>(moment) += next.activations;
      if (rules_.fetches_next_layer) part<&Moment::temporaries>(moment) += next.weights;
      visit(Phase::backward, last - n, moment);
    });
    last -= count;
    part<&Moment::activations>(alive) -= staying * walk.kept;
    grow(alive, growth, count);
  }
}

/// Memory of the block that runs; its kept activations are there already unless they are offloaded and have no buffer.
template <class Alive>
void StageWalk::add_backward_peak(std::uint16_t block, bool left, Alive& alive) const {
  const BlockWalk& walk = walk_of(block);
  if (!left || comes_into_buffer(block)) part<&Moment::activations>(alive) -= walk.kept;
  if (is_head(block)) {
    part<&Moment::logits>(alive) += walk.backward_peak;
  } else {
    part<&Moment::activations>(alive) += walk.kept;
    part<&Moment::temporaries>(alive) += walk.backward_peak - walk.kept;
  }
  const std::int64_t copies = rules_.flat_gradients ? flat_gradient_pieces : 1;
  part<&Moment::temporaries>(alive) += gathered(block) + copies * flat_gradients(block);
}

template <class Alive, class Visit>
void StageWalk::visit_step(const Passes& stage, const Alive& resident, Visits visits, const Visit& visit) const {
  visit_pass(Phase::forward, 0, resident, stage.companions.before, visit);
  visit_passes(stage, resident, visits, visit);
}

template <class Alive, class Visit>
void StageWalk::visit_passes(const Passes& stage, const Alive& resident, Visits visits, const Visit& visit) const {
  Alive in_step = resident;
  part<&Moment::activations>(in_step) += stage.in_flight + stage.companions.kept;
  part<&Moment::temporaries>(in_step) += stage.root;
  Alive beside_last = in_step;
  part<&Moment::activations>(beside_last) += stage.last_graph;
  forward(stage, beside_last, visits, visit);
  if (!rules_.differentiates) return;
  Alive in_loss = in_step;
  part<&Moment::activations>(in_loss) += stage.kept.total() - stage.kept.left;
  const Phase phase = is_head(stage.runs.back().block) ? Phase::loss : Phase::forward;
  visit_pass(phase, stage.blocks - 1, in_loss, stage.companions.in_loss, visit);
  backward(stage, in_step, visits, visit);
}

std::array<PeakMoment, phase_count> StageWalk::phases(const Stage& stage, const Moment& resident) const {
  std::array<PeakMoment, phase_count> peaks;
  for (std::size_t i = 0; i < phase_count; ++i) peaks[i].phase = static_cast<Phase>(i);
  visit_step(stage.passes, resident, Visits::highest, [&](Phase phase, std::int64_t position, const Moment& moment) {
    raise(peaks[static_cast<std::size_t>(phase)], phase, position, moment);
  });
  if (rules_.differentiates)
    raise(peaks[static_cast<std::size_t>(Phase::optimizer)], Phase::optimizer, 0, optimizer_step(stage));
  return peaks;
}

Bytes StageWalk::gathered_at_once(BlockRuns runs) const {
  Bytes root, widest;
  for (const auto& [block, count] : runs) {
    if (!rules_.streams_weights) return {};
    const Bytes whole = weights_of(block).gathered;
    stays_whole(block) ? root += count* whole : widest = std::max(widest, whole);
  }
  return root + widest;
}

StepMemory StageWalk::walk(BlockRuns runs, std::int64_t index) const {
  Stage stage = lay_out(runs);
  place(stage, index);
  StepMemory memory;
  memory.stage = index;
  memory.gathering = gathered_at_once(runs);
  Moment in_step = resident(stage);
  memory.persistent = in_step;
  memory.persistent.workspace = stage.between_steps;  // runs without fused accumulation have no scratch gradients
  memory.host = stage.elsewhere.host;
  memory.nvme = stage.elsewhere.nvme;
  memory.paged = stage.states.paged;
  const bool kept_between_steps = rules_.gradient_buffer || rules_.sharding.gathers_weights();
  memory.persistent.gradients = kept_between_steps ? stage.states.gradients : bytes(0);
  memory.persistent.value =
      resting(stage.companions.value) + (kept_between_steps ? stage.companions.value.gradients : bytes(0));
  memory.steady = phases(stage, in_step);
  in_step.optimizer = bytes(0);
  in_step.workspace -= stage.moment_slack;
  if (question_.training.grad_accum == 1) stage.passes.last_graph = bytes(0);
  in_step.value -= stage.companions.value.optimizer;
  memory.first_step = phases(stage, in_step);
  return memory;
}

StageRest StageWalk::rest(BlockRuns runs) const {
  Stage stage{{.runs = runs}};
  add_states(stage);
  const Bytes host = stage.elsewhere.host + stage.states.paged;
  return {resident(stage).total(), stage.passes.root, optimizer_step(stage).total(), host};
}

StageNeeds StageWalk::needs(BlockRuns runs, const StageRest& rest) const {
  Passes passes = passes_of(runs);
  passes.root = rest.root;
  StageNeeds needs{rest, passes.kept, passes.companions.before, {}};
  visit_passes(passes, bytes(0), Visits::highest,
               [&](Phase, std::int64_t, Bytes alive) { needs.micro_batch = std::max(needs.micro_batch, alive); });
  return needs;
}

std::vector<BlockPeak> StageWalk::timeline(BlockRuns runs, std::int64_t index) const {
  Stage stage = lay_out(runs);
  place(stage, index);
  std::vector<BlockPeak> points;
  visit_step(stage.passes, resident(stage), Visits::all, [&](Phase phase, std::int64_t position, const Moment& moment) {
    points.push_back({phase, position, moment});
  });
  if (!rules_.differentiates) return points;
  points.push_back({Phase::optimizer, 0, optimizer_step(stage)});
  const CompanionPasses& companions = stage.passes.companions;
  const bool before = companions.before > bytes(0);
  points.front().beside = before;
  points[static_cast<std::size_t>(stage.passes.blocks) + (before ? 1 : 0)].beside = companions.in_loss > bytes(0);
  return points;
}

const PeakMoment& StepMemory::peak() const { return highest(steady); }
const PeakMoment& StepMemory::first_peak() const { return highest(first_step); }

}  // namespace llmcalc::memory
