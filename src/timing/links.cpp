#include "quantity/elementary.hpp"
#include "timing/inner/fabric_curves.hpp"
#include "timing/network.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace llmcalc::timing {

using layers::Collective;

namespace {

// Measured, as presets/links says.
constexpr Collectives nvlink3_times{{
#include "links/nvlink3.inc"
}};
constexpr Collectives nvlink4_times{{
#include "links/nvlink4.inc"
}};
constexpr Collectives nvlink5_times{{
#include "links/nvlink5.inc"
}};

struct Switch {
  double least_of_4;
  double least_of_8;
  Curve pair;
};
constexpr Switch switches[] = {
#include "links/pcie.inc"
};
constexpr Switch hosts[] = {
#include "links/host.inc"
};

/// Cards on one PCIe switch pass data round at the rate of a pair, however many they are; what grows is the time of the
/// smallest message, which was measured. Eight of the measured L40S sat behind two sockets without access to each
/// other, where rates fall to 1 to 2 GB/s: that is a host, not the accelerator.
constexpr Collectives times_by_pair(std::span<const Switch> pairs) {
  Collectives times{};
  Curve* curve = times.data();
  for (const auto& [least_of_4, least_of_8, pair] : pairs) {
    *curve++ = pair;
    for (const auto& [ranks, least] : {std::pair(4.0, least_of_4), {8.0, least_of_8}}) {
      for (std::size_t i = 0; i < pair.size(); ++i)
        (*curve)[i] = least + (pair[i] - pair[0]) * ring_share(ranks) / ring_share(2);
      ++curve;
    }
  }
  return times;
}

constexpr FabricCurves nvlink3{"NVLink 3 of A100 SXM (NVIDIA AIConfigurator)", quantity::gigabytes_per_second(300),
                               nvlink3_times};
constexpr FabricCurves nvlink4{"NVLink 4 of H100 SXM (NVIDIA AIConfigurator)", quantity::gigabytes_per_second(450),
                               nvlink4_times};
constexpr FabricCurves nvlink5{"NVLink 5 of B200 SXM (NVIDIA AIConfigurator)", quantity::gigabytes_per_second(900),
                               nvlink5_times};
constexpr FabricCurves pcie{"PCIe 4 of two L40S (NVIDIA AIConfigurator)", quantity::gigabytes_per_second(31.5),
                            times_by_pair(switches)};
constexpr FabricCurves host{"two RTX 2080 Ti by the host's memory (Anthony-Hoo.github.io)",
                            quantity::gigabytes_per_second(15.8), times_by_pair(hosts)};

}  // namespace

bool has_fabric(const spec::Accelerator& gpu) { return gpu.link && (!gpu.pcie || *gpu.link > *gpu.pcie); }

/// Cards that do not reach each other's memory write to the host's and read there (NCCL src/transport/shm.cc).
const FabricCurves& board_curves(const spec::Accelerator& gpu) { return gpu.peers ? pcie : host; }

const FabricCurves& link_curves(const spec::Accelerator& gpu) {
  if (!has_fabric(gpu)) return board_curves(gpu);
  if (!gpu.generation.can(spec::Ability::multicast)) return nvlink3;
  for (const FabricCurves* curves : {&nvlink5, &nvlink4}) {
    if (*gpu.link >= curves->link) return *curves;
  }
  return nvlink3;
}

quantity::Bandwidth board_bandwidth(const spec::Accelerator& gpu) { return gpu.pcie.value_or(pcie.link); }

quantity::Bandwidth link_bandwidth(const spec::Accelerator& gpu) {
  return has_fabric(gpu) ? *gpu.link : board_bandwidth(gpu);
}

namespace {

constexpr double microsecond = 1e-6;
constexpr std::int64_t most_measured = 8;

/// Between measured sizes time grows in a straight line, which is exact for latency plus bytes over bandwidth; beyond
/// the largest it goes on as in the last interval.
double at(const Curve& curve, quantity::Bytes size) {
  const auto bytes = static_cast<std::uint64_t>(quantity::in_bytes(size));
  const auto exponent = static_cast<std::int64_t>(std::bit_width(bytes)) - 1;
  if (exponent < smallest_exponent) return curve.front();
  const auto last = static_cast<std::int64_t>(measured_sizes) - 2;
  const std::int64_t step = std::min(exponent - smallest_exponent, last);
  const auto i = static_cast<std::size_t>(step);
  const auto from = static_cast<double>(std::uint64_t{1} << (smallest_exponent + step));
  return curve[i] + (curve[i + 1] - curve[i]) * (static_cast<double>(bytes) / from - 1.0);
}

/// Growth of the smallest message's time among more ranks than were measured: all-reduces go through trees, the others
/// round rings, so it grows with the logarithm or with the number, as from 4 ranks to 8.
double growth(Collective kind, const FabricCurves& curves, std::int64_t ranks) {
  if (ranks <= most_measured) return 0.0;
  const double doubling = curves.of(kind, 2).front() - curves.of(kind, 1).front();
  const double times = static_cast<double>(ranks) / static_cast<double>(most_measured);
  return kind == Collective::all_reduce ? doubling * quantity::log2(times) : doubling * 2.0 * (times - 1.0);
}

}  // namespace

Links::Links(const spec::Accelerator& gpu)
    : link_{&link_curves(gpu), link_curves(gpu).link / link_bandwidth(gpu)},
      board_{&board_curves(gpu), board_curves(gpu).link / board_bandwidth(gpu)},
      joined_(has_fabric(gpu) ? gpu.joined : 0) {}

quantity::Seconds Links::collective(Collective kind, quantity::Bytes size, std::int64_t ranks,
                                    std::int64_t ring) const {
  const Fabric& fabric = among(ranks);
  const std::size_t column = ranks <= 2 ? 0 : ranks <= 4 ? 1 : 2;
  const Curve& curve = fabric.curves->of(kind, column);
  const auto measured = static_cast<double>(std::int64_t{2} << column);
  const double stretch = fabric.slowdown * ring_share(static_cast<double>(ring)) / ring_share(measured);
  const double least = curve.front() + growth(kind, *fabric.curves, ranks);
  return quantity::seconds(microsecond * (least + (at(curve, size) - curve.front()) * stretch));
}

/// Each of two ranks that exchange a tensor all-to-all sends half of it.
quantity::Seconds Links::neighbours(quantity::Bytes size, std::int64_t ranks) const {
  const Fabric& fabric = among(ranks);
  const Curve& pair = fabric.curves->of(Collective::all_to_all, 0);
  return quantity::seconds(microsecond * (pair.front() + (at(pair, 2 * size) - pair.front()) * fabric.slowdown));
}

}  // namespace llmcalc::timing
