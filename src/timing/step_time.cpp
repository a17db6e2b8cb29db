#include "timing/step_time.hpp"

#include "program/offload.hpp"
#include "quantity/elementary.hpp"
#include "spec/traits.hpp"
#include "timing/inner/pipeline.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::timing {

using program::StageGroup;
using quantity::Bytes;
using quantity::seconds;
using quantity::Seconds;

double pace_of_slowest(std::int64_t accelerators) {
  constexpr double deviation = 0.08 / 6.0;
  const auto n = static_cast<double>(accelerators);
  const double below = (n - 0.375) / (n + 0.25);
  return 1.0 + deviation * std::max(0.0, (quantity::pow(below, 0.135) - quantity::pow(1.0 - below, 0.135)) / 0.1975);
}

namespace {

Seconds positive(Seconds time) { return std::max(seconds(0), time); }

/// Collectives run on the units that multiply matrices (24 channels of NCCL among 108 to 132 units) and share memory
/// and power with them: compute slows down by 18.9 % on average while they run beside it (Lee et al. 2025,
/// arXiv:2507.03114).
constexpr double slowdown = 0.189;

/// Time that a collective beside other work adds to a step: what outlasts the work, and what slows it down meanwhile.
/// However slow the network is that it waits for, NCCL's kernel keeps its units to itself (NVIDIA/nccl issue 689: 16 of
/// them on a machine with eight adapters; issue 1432: 15 % of all).
Seconds beside(Seconds collective, Seconds work) {
  return positive(collective - work) + slowdown * std::min(collective, work);
}

/// Timer of all stages of one run.
class StepTimer {
 public:
  StepTimer(const StepPrices& costs, const spec::Question& question, const frameworks::Profile& profile,
            const Prices& prices)
      : costs_(costs),
        question_(question),
        profile_(profile),
        prices_(prices),
        offload_(program::make_offload(question, profile)),
        sharding_(question.layout),
        gathers_(sharding_.gathers_weights()) {}

  void time(const PricedStages& stages, PipelineTimes& times) const;

 private:
  StageTime stage_time(const StageGroup& group, const Passes& work, const StageTraffic& traffic) const;
  std::int64_t take_leaving(const program::BlockRun& run, std::int64_t& layers) const;
  Bytes leaving_of(const StageGroup& group) const;
  void wait_for_units(const program::BlockRun& run, StageTime& stage) const;
  bool accumulates_apart() const;
  Seconds gathering(std::size_t block, std::int64_t times) const;
  Seconds hand_over() const;
  Seconds data_exchange(const StageTraffic& traffic, const StageTime& stage) const;
  Seconds update_time(const StageTraffic& traffic) const;

  const StepPrices& costs_;
  const spec::Question& question_;
  const frameworks::Profile& profile_;
  const Prices& prices_;
  program::Offloaded offload_;
  program::StateSharding sharding_;
  bool gathers_;  ///< weights exist whole only while their block runs
};

/// While a layer runs, the next one's weights are gathered and the last one's gradients reduced (Zhao et al. 2023,
/// arXiv:2304.11277 §3.3). The blocks outside the layers are one unit that has nothing beside it.
Seconds StepTimer::gathering(std::size_t block, std::int64_t times) const {
  const DataTraffic& one = costs_.traffic[block];
  const bool outside_layers = block == 0 || block == costs_.head;
  if (outside_layers) return one.gather + one.reduce;
  const BlockTime& work = costs_.times[block];
  const Seconds backward = work.recompute.total() + work.backward.total();
  const DataTraffic again = question_.layout.reshard ? one : DataTraffic{};
  const Seconds shown = one.shown_forward + one.shown_backward;
  return static_cast<double>(times) * (shown + beside(one.gather - one.shown_forward, work.forward.total()) +
                                       beside(positive(again.gather + one.reduce - one.shown_backward), backward));
}

PassTime sum_of(const Passes& passes) {
  PassTime sum = passes.forward;
  return (sum += passes.recompute) += passes.backward;
}

/// Share of the exchanges with experts that is waited for beside other work.
double exposed_share(const PassTime& sum, bool between_nodes) {
  constexpr double least_between_nodes = 0.5;
  const Seconds work = sum.total() - sum.expert - sum.host;
  return std::max(between_nodes ? least_between_nodes : 0.0, positive(sum.expert - work) / sum.expert);
}

/// Megatron-LM runs the forward pass of one micro-batch beside the backward pass of another, layer by layer, each
/// working while the other exchanges tokens with the experts (core/models/common/model_chunk_schedule_plan.py,
/// --overlap-moe-expert-parallel-comm): what outlasts all other work is waited for, and so is a host that needs longer
/// than the rest. Between nodes half of an exchange stays: Qwen3 30B on two nodes of H100 gains 1.21 of 2.7 ms a layer
/// with HybridEP and 3.2 of some 8 ms with plain all-to-alls (NVIDIA-NeMo/Megatron-Bridge pull requests 5094, 3862).
/// The host hands over parts of layers, each with a backward pass of its own, and takes half as long again: empirical,
/// 13.4 and 11.4 ms a layer of 16 experts of Qwen3 235B on B200, MXFP8 and BF16 (Megatron-Bridge pull request 1760).
void hide_expert_exchanges(StageTime& stage, bool between_nodes) {
  constexpr double host_in_parts = 1.5;
  const PassTime sum = sum_of(stage);
  if (sum.expert <= seconds(0)) return;
  const Seconds work = sum.total() - sum.expert - sum.host;
  const double exposed = exposed_share(sum, between_nodes);
  const Seconds waiting = std::max(sum.host, positive(host_in_parts * sum.dispatch - work - exposed * sum.expert));
  for (PassTime* pass : {&stage.forward, &stage.recompute, &stage.backward}) {
    pass->expert = exposed * pass->expert;
    if (sum.dispatch > seconds(0)) pass->host = (pass->dispatch / sum.dispatch) * waiting;
  }
}

/// Blocks of a run whose activations leave. \param layers  that still may
std::int64_t StepTimer::take_leaving(const program::BlockRun& run, std::int64_t& layers) const {
  if (layers == program::Offloaded::unlimited) return run.count;
  if (run.block == 0 || run.block == costs_.head) return 0;
  const std::int64_t taken = std::min(layers, run.count);
  layers -= taken;
  return taken;
}

/// Bytes of one micro-batch that leave for the host.
Bytes StepTimer::leaving_of(const StageGroup& group) const {
  auto saved = quantity::bytes(0);
  if (!offload_.activations) return saved;
  std::int64_t leaving = offload_.layers;
  for (const program::BlockRun& run : group.runs) saved += take_leaving(run, leaving) * costs_.times[run.block].saved;
  return saved;
}

StageTime StepTimer::stage_time(const StageGroup& group, const Passes& work, const StageTraffic& traffic) const {
  StageTime stage{work, {}, {}};
  if (question_.layout.expert_overlap) {
    hide_expert_exchanges(stage, prices_.network.span(layers::RankGroup::expert).nodes() > 1);
  }
  if (gathers_) {
    for (const program::BlockRun& run : group.runs) {
      stage.gathering += gathering(run.block, run.count);
      wait_for_units(run, stage);
    }
    stage.backward.streams += traffic.copies;
  }
  if (accumulates_apart()) stage.backward.streams += traffic.accumulated;
  stage.offloading = streaming(offload_, question_, traffic.weights, leaving_of(group), stage);
  return stage;
}

/// DeepSpeed's stage 3 has hooks of other modules, which were not executed.
void StepTimer::wait_for_units(const program::BlockRun& run, StageTime& stage) const {
  if (!spec::is_fsdp(question_.layout.sharding)) return;
  const Units units = question_.layout.sharding == spec::Sharding::fsdp2 ? Units::fsdp2 : Units::fsdp1;
  const Passes& longer = costs_.times[run.block].of_units[static_cast<std::size_t>(units)];
  const auto n = static_cast<double>(run.count);
  stage.forward += n * longer.forward;
  stage.recompute += n * longer.recompute;
  stage.backward += n * longer.backward;
}

/// A kernel of its own adds the gradients of each micro-batch, unless the weight gradient's product does it or shards
/// are all that is added to. What is not widened needs none for a single one.
bool StepTimer::accumulates_apart() const {
  if (gathers_ || !profile_.gradients.accumulate_apart()) return false;
  return profile_.gradients.accumulation == frameworks::Accumulation::apart_widened ||
         question_.training.grad_accum > 1;
}

/// Once a step: gradients are reduced, beside the backward pass of the last micro-batch where the framework does so,
/// and updated weights gathered, beside the next forward pass. What a pipeline gathers once it reduces behind the last
/// backward pass (torch/distributed/pipelining/stage.py, run_post_backward).
Seconds StepTimer::data_exchange(const StageTraffic& traffic, const StageTime& stage) const {
  if (gathers_) return {};
  const Seconds gather = traffic.exchange.gather;
  const Seconds reduce = traffic.exchange.reduce;
  if (sharding_.gathers_once()) return traffic.copies + reduce + beside(gather, stage.forward.total());
  const Seconds reduction = beside(reduce, stage.backward.total()) + traffic.around;
  if (profile_.exchange.sends_by_owner) return gather + reduction;
  if (!question_.layout.data_overlap.value_or(profile_.exchange.overlaps_data)) return gather + reduce;
  return reduction + beside(gather, stage.forward.total());
}

/// The host hands the update over once the loss has been looked at, which the whole pass is waited for with
/// (transformers trainer.py, logging_nan_inf_filter): it is not ahead.
Seconds StepTimer::update_time(const StageTraffic& traffic) const {
  const Seconds products = traffic.weights.update_products;
  return offload_.optimizer ? products : std::max(traffic.update + products, traffic.weights.update_dispatch);
}

/// Tensors that every tensor-parallel rank holds whole go to the next stage in parts and are gathered there.
Seconds StepTimer::hand_over() const {
  const Network& network = prices_.network;
  const std::int64_t parts = question_.layout.tp;
  if (!profile_.exchange.scatters_stage_tensors || question_.layout.sp || parts == 1) {
    return network.to_next_stage(costs_.handed_on);
  }
  const auto part = quantity::bytes(quantity::ceil_divide(in_bytes(costs_.handed_on), parts));
  const GroupSpan group = network.span(layers::RankGroup::tensor);
  return network.to_next_stage(part) + network.collective(layers::Collective::all_gather, costs_.handed_on, group);
}

/// The slowest stage sets the pace; what the others take is in the bubble. Exchange and update of the stage that takes
/// longest for them come last.
void StepTimer::time(const PricedStages& stages, PipelineTimes& times) const {
  const auto m = static_cast<double>(question_.training.grad_accum);
  StepTime& time = times.step = {};
  StageTime slowest;
  times.slowest = {};
  times.groups.clear();
  for (std::size_t i = 0; i < stages.groups.size(); ++i) {
    const StageTraffic& traffic = stages.traffic[i];
    const StageTime stage = stage_time(stages.groups[i], stages.work[i], traffic);
    times.groups.push_back({stage.pace(), stages.groups[i].stages});
    const MicroBatchTime& pace = times.groups.back().pace;
    if (pace.total > times.slowest.total) {
      slowest = stage;
      times.slowest = pace;
    }
    time.data = std::max(time.data, data_exchange(traffic, stage));
    time.optimizer = std::max(time.optimizer, update_time(traffic));
    if (!offload_.optimizer) time.update_dispatch = std::max(time.update_dispatch, traffic.weights.update_dispatch);
    time.offload = std::max(time.offload, host_update(offload_, question_, traffic.weights));
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

/// Total of a step: its passes and what follows them.
Seconds total_of(Seconds passes, Seconds pipeline, Seconds bubble, const StepTime& step) {
  return passes + pipeline + bubble + step.data + step.optimizer + step.offload;
}

}  // namespace

Seconds StepTime::total() const { return total_of(passes(), pipeline, bubble, *this); }

/// The stages that wait for this one in the bubble wait for its host as well.
double StepTime::growth_on_slower_host(double times, bool waits) const {
  auto longer = seconds(0);
  for (const PassTime* pass : {&forward, &recompute, &backward}) {
    const Seconds ahead = waits ? seconds(0) : pass->total() - pass->host;
    longer += positive(times * pass->dispatch - ahead - pass->host);
  }
  const double of_passes = longer > seconds(0) ? (longer / passes()) * ((passes() + bubble) / total()) : 0.0;
  const Seconds updating = positive(times * update_dispatch - optimizer);
  return updating > seconds(0) ? of_passes + updating / total() : of_passes;
}

Seconds PipelineTimes::total(const spec::Layout& layout, std::int64_t micro_batches) const {
  return total_of(passes, handing_on(layout, micro_batches, hand_over), bubble_of(*this, layout), step);
}

quantity::Bytes handed_on(const program::Program& program, std::span<const layers::Block> blocks) {
  if (program.stages == 1) return quantity::bytes(0);
  const layers::Block& last = blocks[program.sequence[program.chunks.front().last - 1]];
  return last.tensors[last.output].size;
}

void time_stages(const PricedStages& stages, const StepPrices& costs, const spec::Question& question,
                 const frameworks::Profile& profile, const Prices& prices, PipelineTimes& times) {
  StepTimer(costs, question, profile, prices).time(stages, times);
}

Passes sum_of(std::span<const std::uint16_t> sequence, std::span<const BlockTime> times) {
  Passes sum;
  for (const std::uint16_t block : sequence) {
    sum.forward += times[block].forward;
    sum.recompute += times[block].recompute;
    sum.backward += times[block].backward;
  }
  return sum;
}

Seconds least_time(const Passes& passes, const Hides& hides) {
  const PassTime sum = sum_of(passes);
  const Seconds shown = hides.host ? sum.total() - sum.host : sum.total();
  if (!hides.experts || sum.expert <= seconds(0)) return shown;
  return shown - (1.0 - exposed_share(sum, hides.between_nodes)) * sum.expert;
}

void least_times(std::span<const StageGroup> stages, std::span<const Passes> work, const Hides& hides,
                 const spec::Question& question, PipelineTimes& times) {
  times = {std::move(times.groups), {}, {}, {}, {}};
  times.groups.clear();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Seconds total = least_time(work[i], hides);
    times.groups.push_back({{total, work[i].weight_gradients}, stages[i].stages});
    if (total > times.slowest.total) times.slowest = times.groups.back().pace;
  }
  times.passes = static_cast<double>(question.training.grad_accum) * times.slowest.total;
}

std::vector<BlockTime> time_blocks(const program::Program& program, const Prices& prices) {
  std::vector<BlockTime> times;
  for (const layers::Block& block : program.blocks) times.push_back(time_block(block, prices));
  return times;
}

StepTime time_step(const program::Program& program, std::span<const BlockTime> times, const spec::Question& question,
                   const frameworks::Profile& profile, const Prices& prices) {
  const program::StateSharding sharding(question.layout);
  std::vector<WeightTraffic> weights;
  for (const layers::Block& block : program.blocks) {
    weights.push_back(weight_traffic(block, question.training, profile, sharding, prices.kernels));
  }
  std::vector<DataTraffic> blocks;
  time_traffic(weights, question, profile, prices, blocks);
  const auto groups = program::stage_groups(program);
  std::vector<Passes> work;
  add_up_work(groups, times, program.companions, question, profile, work);
  std::vector<StageTraffic> traffic;
  add_up_traffic(groups, weights, program.companions, question, profile, prices, traffic);
  const StepPrices costs{times, blocks, program.sequence.back(), handed_on(program, program.blocks)};
  PipelineTimes stages;
  time_stages({groups, work, traffic}, costs, question, profile, prices, stages);
  StepTime step = stages.step;
  step.pipeline = handing_on(question.layout, question.training.grad_accum, stages.hand_over);
  step.bubble = bubble_of(stages, question.layout);
  return step;
}

}  // namespace llmcalc::timing
