#include "llmcalc/timing/step_time.hpp"

#include "timing/data_traffic.hpp"
#include "timing/optimizer_time.hpp"
#include "timing/pipeline.hpp"

#include <algorithm>

namespace llmcalc::timing {

using quantity::seconds;
using quantity::Seconds;

namespace {

Seconds positive(Seconds time) { return std::max(seconds(0), time); }

class StepTimer {
 public:
  StepTimer(const program::Program& program, const spec::Question& question, const program::Profile& profile,
            const Prices& prices);

  StepTime time() const;

 private:
  StageTime stage_time(const BlockCounts& counts) const;
  Seconds gathering(std::size_t block, std::int64_t times) const;
  Seconds data_exchange(const BlockCounts& counts, const StageTime& stage) const;
  Seconds update(const BlockCounts& counts) const;
  Seconds hand_over() const;

  const program::Program& program_;
  const spec::Question& question_;
  const program::Profile& profile_;
  const Prices& prices_;
  std::vector<BlockTime> times_;
  std::vector<DataBytes> data_;
};

StepTimer::StepTimer(const program::Program& program, const spec::Question& question, const program::Profile& profile,
                     const Prices& prices)
    : program_(program), question_(question), profile_(profile), prices_(prices) {
  for (const program::Block& block : program.blocks) {
    times_.push_back(time_block(block, prices));
    data_.push_back(data_bytes(block, question.training));
  }
}

/// While a block runs, the next one's weights are gathered and the last one's gradients reduced (Zhao et al. 2023,
/// arXiv:2304.11277 §3.3). The first block to be gathered and the last to be reduced have nothing beside them; the
/// blocks outside the layers are that one unit.
Seconds StepTimer::gathering(std::size_t block, std::int64_t times) const {
  if (times == 0 || !gathers_by_block(question_.layout)) return {};
  const DataTraffic one = data_traffic(data_[block], question_.layout, prices_.network);
  const BlockTime& work = times_[block];
  const bool outside_layers = block == program_.sequence.front() || block == program_.sequence.back();
  if (outside_layers) return one.gather + one.reduce;
  const Seconds backward = work.recompute.total() + work.backward.total();
  const Seconds exposed = positive(one.gather - work.forward.total()) + positive(one.gather + one.reduce - backward);
  return static_cast<double>(times) * exposed;
}

StageTime StepTimer::stage_time(const BlockCounts& counts) const {
  StageTime stage;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto n = static_cast<double>(counts[i]);
    stage.forward += n * times_[i].forward;
    if (question_.training.method == spec::Method::inference) continue;
    stage.recompute += n * times_[i].recompute;
    stage.backward += n * times_[i].backward;
    stage.weight_gradients += n * times_[i].weight_gradients;
    stage.handed_on += gathering(i, counts[i]);
  }
  return stage;
}

/// Once a step: gradients are reduced, beside the backward pass of the last micro-batch where the framework does so,
/// and updated weights gathered, beside the next forward pass.
Seconds StepTimer::data_exchange(const BlockCounts& counts, const StageTime& stage) const {
  if (gathers_by_block(question_.layout)) return {};
  DataBytes all;
  for (std::size_t i = 0; i < counts.size(); ++i) all += counts[i] * data_[i];
  const DataTraffic traffic = data_traffic(all, question_.layout, prices_.network);
  if (!profile_.overlaps_data_exchange) return traffic.gather + traffic.reduce;
  return positive(traffic.reduce - stage.backward.total()) + positive(traffic.gather - stage.forward.total());
}

Seconds StepTimer::update(const BlockCounts& counts) const {
  const program::Sharding sharding(question_.layout);
  auto traffic = quantity::bytes(0);
  Seconds products;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const program::Block& block = program_.blocks[i];
    traffic += counts[i] * update_traffic(block, question_.training, sharding);
    products += static_cast<double>(counts[i]) *
                update_products(block, question_.training, sharding, prices_.kernels);
  }
  return prices_.kernels.stream(traffic) + products;
}

/// The hidden state that one stage hands to the next.
Seconds StepTimer::hand_over() const {
  if (program_.stages == 1) return {};
  const program::Block& last = program_.blocks[program_.sequence[program_.chunks.front().last - 1]];
  return prices_.network.to_next_stage(last.tensors[last.output].size);
}

StepTime StepTimer::time() const {
  std::vector<BlockCounts> counts;
  std::vector<StageTime> stages;
  for (std::int64_t stage = 0; stage < program_.stages; ++stage) {
    counts.push_back(blocks_of_stage(program_, stage));
    stages.push_back(stage_time(counts.back()));
  }
  const std::int64_t micro_batches = question_.training.grad_accum;
  const PipelineTime pipeline = run_pipeline(stages, question_.layout, micro_batches, hand_over());
  const StageTime& slowest = stages[pipeline.slowest];
  const auto m = static_cast<double>(micro_batches);
  StepTime time;
  time.forward = m * slowest.forward;
  time.recompute = m * slowest.recompute;
  time.backward = m * slowest.backward;
  time.pipeline = pipeline.handing_on;
  time.bubble = pipeline.bubble;
  time.data = m * slowest.handed_on;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    time.data = std::max(time.data, m * slowest.handed_on + data_exchange(counts[i], stages[i]));
    time.optimizer = std::max(time.optimizer, update(counts[i]));
  }
  return time;
}

}  // namespace

BlockCounts blocks_of_stage(const program::Program& program, std::int64_t stage) {
  BlockCounts counts(program.blocks.size(), 0);
  for (auto chunk = static_cast<std::size_t>(stage); chunk < program.chunks.size();
       chunk += static_cast<std::size_t>(program.stages)) {
    for (std::size_t i = program.chunks[chunk].first; i < program.chunks[chunk].last; ++i) {
      ++counts[program.sequence[i]];
    }
  }
  return counts;
}

Seconds StepTime::total() const {
  return forward.total() + recompute.total() + backward.total() + pipeline + bubble + data + optimizer + offload;
}

StepTime time_step(const program::Program& program, const spec::Question& question, const program::Profile& profile,
                   const Prices& prices) {
  return StepTimer(program, question, profile, prices).time();
}

}  // namespace llmcalc::timing
