// What the stages of a run take that a search adds up once: the work of their blocks, the traffic of their weights.
#include "timing/step_time.hpp"
#include "timing/weight_traffic.hpp"

#include <algorithm>

namespace llmcalc::timing {

using program::StageGroup;
using quantity::Seconds;
using quantity::seconds;

namespace {

/// A slower accelerator lets the host get further ahead, unless the host waits for each kernel.
struct Pace {
  Pace(const spec::Question& question, const frameworks::Profile& profile)
      : of_slowest(pace_of_slowest(question.layout.gpus)),
        hands_over_ahead(!profile.host.waits_for_kernels),
        forward_passes(profile.head.runs_forward_for_metrics ? 2.0 : 1.0) {}

  double of_slowest;
  bool hands_over_ahead;
  double forward_passes;

  PassTime operator()(const PassTime& pass, double times) const {
    PassTime slower = of_slowest * pass;
    const Seconds later = (slower.total() - slower.host) - (pass.total() - pass.host);
    slower.host = hands_over_ahead ? std::max(seconds(0), pass.host - later) : pass.host;
    slower.dispatch = pass.dispatch;
    return times * slower;
  }
};

void add_backward(const BlockTime& block, double times, const Pace& pace, Passes& sum) {
  sum.recompute += pace(block.recompute, times);
  sum.backward += pace(block.backward, times);
  sum.weight_gradients += times * pace.of_slowest * block.weight_gradients;
}

void add(const BlockTime& block, double times, const Pace& pace, Passes& sum) {
  sum.forward += pace(block.forward, pace.forward_passes * times);
  add_backward(block, times, pace, sum);
}

/// Frozen models run forward with each micro-batch, a value model is trained with it. Samples are made token by token,
/// which no price of a whole pass says anything about.
void add_companion(const program::Companion& companion, const StageGroup& group, std::span<const BlockTime> times,
                   const Pace& pace, Passes& stage) {
  if (companion.role == program::CompanionRole::generation) return;
  for (const program::BlockRun& run : group.runs) {
    const BlockTime& block = times[companion.runs[run.block]];
    const auto n = static_cast<double>(run.count);
    stage.forward += pace(block.forward, n);
    if (companion.is_trained()) add_backward(block, n, pace, stage);
  }
}

WeightTraffic weights_of(const StageGroup& stage, std::span<const WeightTraffic> weights,
                         std::span<const program::Companion> companions) {
  WeightTraffic sum;
  for (const program::BlockRun& run : stage.runs) {
    sum += run.count * weights[run.block];
    for (const program::Companion& companion : companions) {
      if (companion.is_trained()) sum += run.count * weights[companion.runs[run.block]];
    }
  }
  return sum;
}

}  // namespace

BlockTime paced(const BlockTime& block, const spec::Question& question, const frameworks::Profile& profile) {
  BlockTime time{{}, block.saved, block.of_units};
  add(block, 1.0, Pace(question, profile), time);
  return time;
}

void add_up_work(std::span<const StageGroup> stages, std::span<const BlockTime> times,
                 std::span<const program::Companion> companions, const spec::Question& question,
                 const frameworks::Profile& profile, std::vector<Passes>& work) {
  const Pace pace(question, profile);
  work.clear();
  for (const StageGroup& group : stages) {
    Passes& stage = work.emplace_back();
    for (const program::BlockRun& run : group.runs) {
      add(times[run.block], static_cast<double>(run.count), pace, stage);
    }
    for (const program::Companion& companion : companions) add_companion(companion, group, times, pace, stage);
  }
}

void add_up_traffic(std::span<const StageGroup> stages, std::span<const WeightTraffic> weights,
                    std::span<const program::Companion> companions, const spec::Question& question,
                    const frameworks::Profile& profile, const Prices& prices, std::vector<StageTraffic>& traffic) {
  const std::int64_t passes = profile.exchange.passes_around_reduction;
  const auto none = quantity::bytes(0);
  traffic.clear();
  for (const StageGroup& group : stages) {
    StageTraffic& stage = traffic.emplace_back();
    const WeightTraffic& sum = stage.weights = weights_of(group, weights, companions);
    stage.exchange = data_traffic(sum, question.layout, prices.network, profile);
    stage.copies = prices.kernels.eager_stream(copied_around_exchange(sum, question.layout, profile));
    if (stage.exchange.reduce > seconds(0) && passes > 0) stage.around = prices.kernels.stream(passes * sum.gradients);
    stage.accumulated = prices.kernels.stream(sum.accumulated);
    if (sum.updated > none) stage.update = prices.kernels.stream(sum.updated);
  }
}

void time_traffic(std::span<const WeightTraffic> weights, const spec::Question& question,
                  const frameworks::Profile& profile, const Prices& prices, std::vector<DataTraffic>& traffic) {
  traffic.clear();
  if (!program::StateSharding(question.layout).gathers_weights()) return;
  for (const WeightTraffic& block : weights) {
    traffic.push_back(data_traffic(block, question.layout, prices.network, profile));
  }
}

}  // namespace llmcalc::timing
