// How the stages of a pipeline wait for each other, and for the host that keeps what was offloaded.
#include "timing/inner/pipeline.hpp"

#include "layers/widths.hpp"
#include "timing/network.hpp"

#include <algorithm>

namespace llmcalc::timing {

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

}  // namespace llmcalc::timing
