#include "llmcalc/timing/step_time.hpp"

#include "llmcalc/program/offload.hpp"
#include "timing/data_traffic.hpp"
#include "timing/offload_time.hpp"
#include "timing/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::timing {

using program::StageGroup;
using quantity::seconds;
using quantity::Seconds;

double pace_of_slowest(std::int64_t accelerators) {
  constexpr double deviation = 0.08 / 6.0;
  constexpr double priced = 8.0;
  const auto slowest = [](double n) { return std::sqrt(2.0 * std::log(n)); };
  return 1.0 + deviation * std::max(0.0, slowest(static_cast<double>(accelerators)) - slowest(priced));
}

namespace {

Seconds positive(Seconds time) { return std::max(seconds(0), time); }

/// Collectives run on the units that multiply matrices (24 channels of NCCL among 108 to 132 units) and share memory
/// and power with them: compute slows down by 18.9 % on average while they run beside it (Lee et al. 2025,
/// arXiv:2507.03114).
constexpr double slowdown = 0.189;

/// What a collective beside other work adds to a step: what outlasts the work, and what slows it down meanwhile.
/// However slow the network is that it waits for, NCCL's kernel keeps its units to itself (NVIDIA/nccl issue 689: 16 of
/// them on a machine with eight adapters; issue 1432: 15 % of all).
Seconds beside(Seconds collective, Seconds work) {
  return positive(collective - work) + slowdown * std::min(collective, work);
}

/// What all stages of one run have in common.
class StepTimer {
 public:
  StepTimer(const StepPrices& costs, const spec::Question& question, const frameworks::Profile& profile,
            const Prices& prices)
      : costs_(costs),
        question_(question),
        profile_(profile),
        prices_(prices),
        offload_(program::make_offload(question, profile)),
        pace_(pace_of_slowest(question.layout.gpus)),
        gathers_(program::Sharding(question.layout).gathers_weights()),
        gathers_once_(program::Sharding(question.layout).gathers_once()) {}

  void time(std::span<const StageGroup> groups, PipelineTimes& times) const;

 private:
  StageTime stage_time(const StageGroup& group, const WeightTraffic& weights) const;
  void add_companion(const program::Companion& companion, const StageGroup& group, StageTime& stage) const;
  std::int64_t take_leaving(const program::Run& run, std::int64_t& layers) const;
  WeightTraffic weights_of(const StageGroup& stage) const;
  bool accumulates_apart() const;
  Seconds gathering(std::size_t block, std::int64_t times) const;
  double forward_passes() const { return profile_.head.runs_forward_for_metrics ? 2.0 : 1.0; }
  Seconds hand_over() const;
  Seconds data_exchange(const WeightTraffic& weights, const StageTime& stage) const;

  const StepPrices& costs_;
  const spec::Question& question_;
  const frameworks::Profile& profile_;
  const Prices& prices_;
  program::Offload offload_;
  double pace_;   ///< of the slowest accelerator
  bool gathers_;  ///< weights exist whole only while their block runs
  bool gathers_once_;
};

/// While a layer runs, the next one's weights are gathered and the last one's gradients reduced (Zhao et al. 2023,
/// arXiv:2304.11277 §3.3). The blocks outside the layers are one unit that has nothing beside it.
Seconds StepTimer::gathering(std::size_t block, std::int64_t times) const {
  const DataTraffic one = data_traffic(costs_.weights[block], question_.layout, prices_.network, profile_);
  const bool outside_layers = block == 0 || block == costs_.head;
  if (outside_layers) return one.gather + one.reduce;
  const BlockTime& work = costs_.times[block];
  const Seconds backward = work.recompute.total() + work.backward.total();
  const DataTraffic again = question_.layout.reshard ? one : DataTraffic{};
  return static_cast<double>(times) *
         (beside(one.gather, work.forward.total()) + beside(again.gather + one.reduce, backward));
}

/// Megatron-LM runs the forward pass of one micro-batch beside the backward pass of another, layer by layer, each
/// working while the other exchanges tokens with the experts (core/models/common/model_chunk_schedule_plan.py,
/// --overlap-moe-expert-parallel-comm): what outlasts all other work is waited for, and so is a host that needs longer
/// than the rest. Between nodes half of an exchange stays: Qwen3 30B on two nodes of H100 gains 1.21 of 2.7 ms a layer
/// with HybridEP and 3.2 of some 8 ms with plain all-to-alls (NVIDIA-NeMo/Megatron-Bridge pull requests 5094, 3862).
void hide_expert_exchanges(StageTime& stage, bool between_nodes) {
  constexpr double least_between_nodes = 0.5;
  PassTime sum = stage.forward;
  (sum += stage.recompute) += stage.backward;
  if (sum.expert <= seconds(0)) return;
  const Seconds work = sum.total() - sum.expert - sum.host;
  const double exposed = std::max(between_nodes ? least_between_nodes : 0.0, positive(sum.expert - work) / sum.expert);
  const Seconds waiting = std::max(sum.host, positive(sum.dispatch - work - exposed * sum.expert));
  for (PassTime* pass : {&stage.forward, &stage.recompute, &stage.backward}) {
    pass->expert = exposed * pass->expert;
    if (sum.dispatch > seconds(0)) pass->host = (pass->dispatch / sum.dispatch) * waiting;
  }
}

/// Of the blocks of a run, those whose activations leave. \param layers  that still may
std::int64_t StepTimer::take_leaving(const program::Run& run, std::int64_t& layers) const {
  if (layers == program::Offload::unlimited) return run.count;
  if (run.block == 0 || run.block == costs_.head) return 0;
  const std::int64_t taken = std::min(layers, run.count);
  layers -= taken;
  return taken;
}

StageTime StepTimer::stage_time(const StageGroup& group, const WeightTraffic& weights) const {
  StageTime stage;
  auto saved = quantity::bytes(0);
  std::int64_t leaving = offload_.layers;
  for (const program::Run& run : group.runs) {
    const BlockTime& block = costs_.times[run.block];
    const double n = pace_ * static_cast<double>(run.count);
    stage.forward += forward_passes() * n * block.forward;
    stage.recompute += n * block.recompute;
    stage.backward += n * block.backward;
    stage.weight_gradients += n * block.weight_gradients;
    saved += take_leaving(run, leaving) * block.saved;
    if (gathers_) stage.gathering += gathering(run.block, run.count);
  }
  for (const program::Companion& companion : costs_.companions) add_companion(companion, group, stage);
  if (question_.layout.expert_overlap) {
    hide_expert_exchanges(stage, prices_.network.span(layers::Group::expert).nodes() > 1);
  }
  if (gathers_)
    stage.backward.streams += prices_.kernels.eager_stream(copied_around_exchange(weights, question_.layout, profile_));
  if (accumulates_apart()) stage.backward.streams += prices_.kernels.stream(weights.accumulated);
  stage.offloading = streaming(offload_, question_, weights, saved, stage);
  return stage;
}

/// A kernel of its own adds the gradients of each micro-batch, unless the weight gradient's product does it or shards
/// are all that is added to. What is not widened needs none for a single one.
bool StepTimer::accumulates_apart() const {
  if (gathers_ || !profile_.gradients.accumulate_apart()) return false;
  return profile_.gradients.accumulation == frameworks::Accumulation::apart_widened ||
         question_.training.grad_accum > 1;
}

/// Frozen models run forward with each micro-batch, a value model is trained with it. Samples are made token by token,
/// which no price of a whole pass says anything about.
void StepTimer::add_companion(const program::Companion& companion, const StageGroup& group, StageTime& stage) const {
  if (companion.role == program::Role::generation) return;
  for (const program::Run& run : group.runs) {
    const BlockTime& block = costs_.times[companion.runs[run.block]];
    const double n = pace_ * static_cast<double>(run.count);
    stage.forward += n * block.forward;
    if (!companion.is_trained()) continue;
    stage.recompute += n * block.recompute;
    stage.backward += n * block.backward;
    stage.weight_gradients += n * block.weight_gradients;
  }
}

WeightTraffic StepTimer::weights_of(const StageGroup& stage) const {
  WeightTraffic sum;
  for (const program::Run& run : stage.runs) {
    sum += run.count * costs_.weights[run.block];
    for (const program::Companion& companion : costs_.companions) {
      if (companion.is_trained()) sum += run.count * costs_.weights[companion.runs[run.block]];
    }
  }
  return sum;
}

/// Once a step: gradients are reduced, beside the backward pass of the last micro-batch where the framework does so,
/// and updated weights gathered, beside the next forward pass. What a pipeline gathers once it reduces behind the last
/// backward pass (torch/distributed/pipelining/stage.py, run_post_backward).
Seconds StepTimer::data_exchange(const WeightTraffic& weights, const StageTime& stage) const {
  if (gathers_) return {};
  const DataTraffic traffic = data_traffic(weights, question_.layout, prices_.network, profile_);
  if (gathers_once_) {
    const Seconds copies = prices_.kernels.eager_stream(copied_around_exchange(weights, question_.layout, profile_));
    return copies + traffic.reduce + beside(traffic.gather, stage.forward.total());
  }
  Seconds reduction = beside(traffic.reduce, stage.backward.total());
  if (traffic.reduce > seconds(0) && profile_.exchange.passes_around_reduction > 0) {
    reduction += prices_.kernels.stream(profile_.exchange.passes_around_reduction * weights.gradients);
  }
  if (profile_.exchange.sends_by_owner) return traffic.gather + reduction;
  if (!question_.layout.data_overlap.value_or(profile_.exchange.overlaps_data)) return traffic.gather + traffic.reduce;
  return reduction + beside(traffic.gather, stage.forward.total());
}

/// What every tensor-parallel rank holds whole goes to the next stage in parts and is gathered there.
Seconds StepTimer::hand_over() const {
  const Network& network = prices_.network;
  const std::int64_t parts = question_.layout.tp;
  if (!profile_.exchange.scatters_stage_tensors || question_.layout.sp || parts == 1) {
    return network.to_next_stage(costs_.handed_on);
  }
  const auto part = quantity::bytes(quantity::ceil_divide(in_bytes(costs_.handed_on), parts));
  const Span group = network.span(layers::Group::tensor);
  return network.to_next_stage(part) + network.collective(layers::Collective::all_gather, costs_.handed_on, group);
}

/// The slowest stage sets the pace; what the others take is in the bubble. Exchange and update of the stage that takes
/// longest for them come last.
void StepTimer::time(std::span<const StageGroup> groups, PipelineTimes& times) const {
  const auto m = static_cast<double>(question_.training.grad_accum);
  StepTime& time = times.step = {};
  StageTime slowest;
  times.slowest = {};
  times.groups.clear();
  for (const StageGroup& group : groups) {
    const WeightTraffic weights = weights_of(group);
    const StageTime stage = stage_time(group, weights);
    times.groups.push_back({stage.pace(), group.stages});
    const Pace& pace = times.groups.back().pace;
    if (pace.total > times.slowest.total) {
      slowest = stage;
      times.slowest = pace;
    }
    time.data = std::max(time.data, data_exchange(weights, stage));
    const bool updates_here = !offload_.optimizer && weights.updated > quantity::bytes(0);
    const Seconds update = updates_here ? prices_.kernels.stream(weights.updated) : seconds(0);
    time.optimizer = std::max(time.optimizer, update + weights.update_products);
    time.offload = std::max(time.offload, host_update(offload_, question_, weights));
  }
  time.forward = m * slowest.forward;
  time.recompute = m * slowest.recompute;
  time.backward = m * slowest.backward;
  time.data += m * slowest.gathering;
  time.offload += m * slowest.offloading;
  times.passes = time.passes();
  times.hand_over = hand_over();
}

Seconds bubble_of(const PipelineTimes& times, const spec::Layout& layout) {
  Seconds bubble;
  for (const auto& group : times.groups) {
    bubble += static_cast<double>(group.stages) * share_of_bubble(group.pace, layout);
  }
  return bubble - share_of_bubble(times.slowest, layout);
}

/// What follows the passes of a step.
Seconds total_of(Seconds passes, Seconds pipeline, Seconds bubble, const StepTime& step) {
  return passes + pipeline + bubble + step.data + step.optimizer + step.offload;
}

}  // namespace

Seconds StepTime::total() const { return total_of(passes(), pipeline, bubble, *this); }

Seconds PipelineTimes::total(const spec::Layout& layout, std::int64_t micro_batches) const {
  return total_of(passes, handing_on(layout, micro_batches, hand_over), bubble_of(*this, layout), step);
}

quantity::Bytes handed_on(const program::Program& program) {
  if (program.stages == 1) return quantity::bytes(0);
  const layers::Block& last = program.blocks[program.sequence[program.chunks.front().last - 1]];
  return last.tensors[last.output].size;
}

void time_stages(std::span<const StageGroup> stages, const StepPrices& costs, const spec::Question& question,
                 const frameworks::Profile& profile, const Prices& prices, PipelineTimes& times) {
  StepTimer(costs, question, profile, prices).time(stages, times);
}

StepTime time_step(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile,
                   const Prices& prices) {
  const program::Sharding sharding(question.layout);
  std::vector<BlockTime> times;
  std::vector<WeightTraffic> weights;
  for (const layers::Block& block : program.blocks) {
    times.push_back(time_block(block, prices));
    weights.push_back(weight_traffic(block, question.training, profile, sharding, prices.kernels));
  }
  const StepPrices costs{times, weights, program.sequence.back(), handed_on(program), program.companions};
  PipelineTimes stages;
  time_stages(program::stage_groups(program), costs, question, profile, prices, stages);
  StepTime step = stages.step;
  step.pipeline = handing_on(question.layout, question.training.grad_accum, stages.hand_over);
  step.bubble = bubble_of(stages, question.layout);
  return step;
}

}  // namespace llmcalc::timing
