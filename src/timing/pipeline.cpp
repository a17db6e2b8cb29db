// What the stages of a pipeline take that a search adds up once: the work of their blocks, the traffic of their
// weights.

#include "timing/inner/pipeline.hpp"

#include "layers/widths.hpp"
#include "timing/inner/data_traffic.hpp"
#include "timing/inner/fabric_curves.hpp"
#include "timing/step_time.hpp"

#include <algorithm>

namespace llmcalc::timing {

using program::StageGroup;
using quantity::Bytes;
using quantity::Seconds;
using quantity::seconds;

/// The slowest stage sets the pace; the others cost their own time once. Interleaving divides it by the number of
/// virtual stages (Narayanan et al. 2021, arXiv:2104.04473 §2.2.2); ZB-H1 fills it with weight gradients, one behind
/// each of the two passes (Qi et al. 2023, arXiv:2401.10241 table 2: (p - 1)(T_F + T_B - T_W)).
Seconds share_of_bubble(const MicroBatchTime& stage, const spec::Layout& layout) {
  if (layout.schedule != spec::Schedule::zero_bubble) return stage.total / static_cast<double>(layout.vpp);
  return std::max(seconds(0), stage.total - 2.0 * stage.weight_gradients);
}

/// While the pipeline fills and drains each hop is waited for, and between two micro-batches a stage of 1F1B waits for
/// what it sends and receives; interleaved stages send while they work (Megatron-LM core/pipeline_parallel/
/// schedules.py, overlap_p2p_comm).
Seconds handing_on(const spec::Layout& layout, std::int64_t micro_batches, Seconds hand_over) {
  if (layout.pp == 1) return {};
  const auto hops = static_cast<double>(layout.pp - 1);
  const auto between = layout.vpp == 1 ? static_cast<double>(micro_batches - 1) : 0.0;
  return 2.0 * (hops + between) * hand_over;
}

namespace {

/// Grace's superchips have NVLink-C2C to the host instead of PCIe; pinned copies are taken to reach the same share.
Seconds to_host(const spec::Accelerator& gpu, Bytes size) {
  const auto link = gpu.host_link ? *gpu.host_link : board_bandwidth(gpu);
  return size / quantity::bytes_per_second(gpu.rates.host.pinned * in_bytes_per_second(link));
}

double accelerators_of_node(const spec::Layout& layout) {
  return static_cast<double>(layout.gpus) / static_cast<double>(layout.nodes);
}

/// The accelerators of the node share its drives.
Seconds over_nvme(const spec::Question& question, Bytes size) {
  const auto drives = question.runtime.nvme.value_or(question.gpu->rates.host.drive);
  return accelerators_of_node(question.layout) * (size / drives);
}

/// Each rank fetches its shard over its own link, before the ranks gather the whole among themselves (Rajbhandari et
/// al. 2021, ZeRO-Infinity, arXiv:2104.07857 section 6.1).
Bytes shard_of(const WeightTraffic& weights, const spec::Layout& layout) {
  const program::StateSharding sharding(layout);
  const auto share = [&](Bytes size, layers::Split split) {
    return quantity::bytes(quantity::ceil_divide(in_bytes(size), sharding.of(split).weights));
  };
  return share(weights.weights, layers::Split::tensor) + share(weights.expert_weights, layers::Split::expert);
}

}  // namespace

Seconds streaming(const program::Offloaded& offload, const spec::Question& question, const WeightTraffic& weights,
                  Bytes saved, const StageTime& stage) {
  const Bytes resting = offload.weights ? shard_of(weights, question.layout) : quantity::bytes(0);
  const Bytes size = resting + (offload.activations ? saved : quantity::bytes(0));
  if (size == quantity::bytes(0)) return {};
  const Seconds from_drives = offload.to_nvme ? over_nvme(question, resting) : seconds(0);
  const Seconds once = std::max(to_host(*question.gpu, size), from_drives);
  const Seconds backward = stage.recompute.total() + stage.backward.total();
  return std::max(seconds(0), once - stage.forward.total()) + std::max(seconds(0), once - backward);
}

/// Masters, moments and gradients come from the drives, and all but the gradients go back behind the update, one after
/// the other unless the run asks for a pipeline (DeepSpeed runtime/zero/offload_config.py, pipeline_read).
Seconds host_update(const program::Offloaded& offload, const spec::Question& question, const WeightTraffic& weights) {
  if (!offload.optimizer) return {};
  const spec::Accelerator& gpu = *question.gpu;
  const std::int64_t updated = in_parameters(weights.updated_parameters);
  const double sharers = accelerators_of_node(question.layout);
  constexpr std::int64_t read_and_written = (4 + 3) * layers::fp32_width;
  const Bytes one_way = quantity::bytes(layers::half_width * updated);
  const Seconds swapping =
      offload.to_nvme ? over_nvme(question, quantity::bytes(quantity::product(read_and_written, updated))) : Seconds{};
  return static_cast<double>(updated) * sharers * gpu.rates.host.update + 2.0 * to_host(gpu, one_way) + swapping;
}

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

/// Frozen models run forward with each micro-batch, a value model is trained with it. Samples are made token by token,
/// which no price of a whole pass says anything about.
void add_companion(const program::Companion& companion, const StageGroup& group, std::span<const BlockTime> times,
                   const Pace& pace, StagePasses& stage) {
  if (companion.role == program::CompanionRole::generation) return;
  for (const program::BlockRun& run : group.runs) {
    const BlockTime& block = times[companion.runs[run.block]];
    const auto n = static_cast<double>(run.count);
    stage.forward += pace(block.forward, n);
    if (!companion.is_trained()) continue;
    stage.recompute += pace(block.recompute, n);
    stage.backward += pace(block.backward, n);
    stage.weight_gradients += n * pace.of_slowest * block.weight_gradients;
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
  const Pace pace(question, profile);
  return {pace(block.forward, pace.forward_passes), pace(block.recompute, 1.0), pace(block.backward, 1.0),
          pace.of_slowest * block.weight_gradients, block.saved};
}

void add_up_work(std::span<const StageGroup> stages, std::span<const BlockTime> times,
                 std::span<const program::Companion> companions, const spec::Question& question,
                 const frameworks::Profile& profile, std::vector<StagePasses>& work) {
  const Pace pace(question, profile);
  work.clear();
  for (const StageGroup& group : stages) {
    StagePasses& stage = work.emplace_back();
    for (const program::BlockRun& run : group.runs) {
      const BlockTime& block = times[run.block];
      const auto n = static_cast<double>(run.count);
      stage.forward += pace(block.forward, pace.forward_passes * n);
      stage.recompute += pace(block.recompute, n);
      stage.backward += pace(block.backward, n);
      stage.weight_gradients += n * pace.of_slowest * block.weight_gradients;
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
