#include "quantity/elementary.hpp"
#include "timing/inner/fabric_curves.hpp"
#include "timing/network.hpp"

#include <algorithm>
#include <bit>

namespace llmcalc::timing {

using layers::Collective;

namespace {

using Collectives = std::array<Groups, 4>;

// Microseconds from 8 KiB to 512 MiB, a row for 2, 4 and 8 accelerators: NVIDIA AIConfigurator, systems/data/*/nccl,
// nccl-tests on bf16 tensors. A small message that took longer than the next larger one has that one's time.

// clang-format off
constexpr Collectives nvlink3_times{{
    // all-reduce
    {{{{11.0, 12.8, 12.8, 13.0, 13.4, 15.3, 19.4, 40.8, 47.6, 55.8, 87.1, 128, 224, 392, 748, 1430, 2781}},
      {{14.7, 16.3, 17.4, 17.8, 17.8, 18.1, 22.9, 29.8, 46.2, 68.8, 111, 184, 288, 544, 1000, 1927, 3716}},
      {{21.3, 22.6, 26.0, 27.4, 27.4, 27.5, 30.1, 38.9, 53.7, 77.3, 128, 216, 367, 595, 1169, 2182, 4226}}}},
    // all-gather
    {{{{10.5, 11.4, 12.0, 12.4, 12.4, 13.6, 15.6, 19.9, 38.1, 43.3, 59.7, 93.4, 154, 266, 496, 939, 1790}},
      {{11.8, 13.9, 15.1, 15.4, 15.5, 15.9, 18.6, 22.5, 52.9, 60.7, 73.2, 119, 176, 325, 578, 1106, 2102}},
      {{14.6, 15.8, 19.5, 20.9, 20.9, 21.0, 21.9, 26.8, 33.5, 48.0, 73.5, 135, 218, 352, 660, 1217, 2288}}}},
    // reduce-scatter
    {{{{9.9, 11.2, 11.5, 11.8, 12.0, 13.0, 15.2, 19.4, 34.9, 41.2, 53.1, 82.3, 135, 230, 434, 826, 1612}},
      {{11.5, 12.6, 13.7, 13.9, 14.3, 14.3, 16.9, 21.1, 48.7, 56.7, 66.9, 109, 166, 303, 539, 1035, 1982}},
      {{14.5, 15.1, 16.8, 18.0, 18.2, 18.2, 19.1, 23.4, 34.2, 52.0, 79.5, 123, 210, 327, 624, 1150, 2207}}}},
    // all-to-all
    {{{{11.6, 12.5, 13.9, 13.9, 14.4, 14.7, 17.2, 22.8, 28.6, 38.2, 56.0, 98.3, 136, 243, 446, 844, 1635}},
      {{12.6, 13.2, 14.1, 14.5, 15.0, 15.7, 18.6, 25.2, 36.1, 41.4, 60.8, 104, 173, 312, 574, 1071, 2066}},
      {{12.6, 12.6, 13.3, 14.2, 16.6, 18.4, 19.0, 25.8, 38.6, 64.3, 67.8, 114, 191, 348, 640, 1198, 2314}}}},
}};

constexpr Collectives nvlink4_times{{
    // all-reduce
    {{{{6.8, 7.1, 7.1, 7.3, 7.7, 8.8, 10.7, 14.7, 27.9, 33.1, 47.3, 82.2, 144, 255, 466, 881, 1686}},
      {{10.0, 11.2, 11.2, 11.3, 11.4, 11.8, 14.5, 18.1, 27.7, 42.2, 62.8, 99.0, 176, 330, 613, 1181, 2300}},
      {{16.0, 18.4, 18.4, 18.7, 19.0, 19.1, 20.1, 25.4, 38.2, 50.5, 78.9, 122, 200, 325, 579, 1092, 2111}}}},
    // all-gather
    {{{{5.8, 6.2, 6.3, 6.4, 6.6, 7.6, 8.3, 11.3, 16.6, 27.0, 36.3, 56.0, 92.9, 159, 293, 549, 1039}},
      {{7.6, 8.5, 8.8, 9.0, 9.1, 9.2, 10.7, 13.6, 19.1, 37.0, 45.4, 66.2, 109, 195, 350, 661, 1267}},
      {{10.6, 11.2, 13.1, 13.1, 13.6, 13.6, 15.4, 17.1, 22.2, 33.4, 44.9, 68.9, 125, 208, 393, 729, 1402}}}},
    // reduce-scatter
    {{{{5.8, 6.0, 6.2, 6.3, 6.3, 7.3, 8.3, 10.7, 15.4, 23.8, 32.4, 53.2, 95.7, 169, 312, 585, 1078}},
      {{7.4, 7.9, 8.0, 8.2, 8.5, 10.1, 10.1, 11.6, 17.5, 32.9, 38.5, 59.3, 106, 195, 355, 678, 1300}},
      {{10.5, 10.9, 11.5, 11.7, 12.0, 12.2, 12.3, 14.6, 17.9, 29.9, 43.8, 69.7, 111, 201, 382, 722, 1399}}}},
    // all-to-all
    {{{{6.8, 8.0, 9.1, 12.0, 14.0, 14.2, 14.4, 14.8, 15.5, 21.2, 31.2, 53.0, 81.2, 140, 260, 495, 959}},
      {{7.1, 7.5, 8.8, 9.6, 12.5, 14.3, 14.9, 15.6, 17.4, 24.8, 39.3, 68.9, 111, 192, 365, 702, 1397}},
      {{7.5, 8.7, 8.7, 8.7, 9.7, 12.9, 14.8, 15.6, 18.6, 26.2, 41.4, 75.7, 125, 221, 402, 764, 1490}}}},
}};

constexpr Collectives nvlink5_times{{
    // all-reduce
    {{{{10.5, 10.8, 10.8, 11.3, 11.3, 11.3, 12.3, 14.2, 18.9, 36.8, 41.5, 53.4, 83.2, 147, 271, 521, 1005}},
      {{15.7, 16.0, 16.8, 16.8, 17.0, 17.0, 17.0, 19.0, 25.9, 35.8, 84.9, 95.8, 123, 182, 342, 659, 1271}},
      {{26.0, 26.6, 27.3, 28.1, 28.1, 28.3, 28.4, 30.1, 32.1, 53.4, 71.6, 99.1, 168, 278, 398, 715, 1335}}}},
    // all-gather
    {{{{9.4, 9.8, 9.8, 10.0, 10.0, 10.2, 11.2, 12.7, 15.8, 23.2, 30.4, 37.5, 54.3, 95.0, 170, 320, 612}},
      {{11.4, 12.6, 12.6, 13.0, 13.0, 13.0, 13.0, 14.9, 18.4, 25.2, 50.9, 57.9, 71.0, 108, 196, 367, 711}},
      {{16.6, 18.7, 18.7, 18.7, 18.7, 18.7, 18.7, 18.7, 24.4, 29.2, 44.2, 104, 114, 138, 207, 393, 761}}}},
    // reduce-scatter
    {{{{9.2, 9.7, 9.7, 9.8, 9.8, 9.8, 10.8, 12.0, 14.8, 22.0, 28.1, 37.8, 54.6, 99.0, 185, 347, 651}},
      {{11.5, 12.0, 12.3, 12.6, 12.9, 12.9, 12.9, 14.2, 19.2, 24.4, 48.0, 54.7, 70.0, 108, 200, 381, 729}},
      {{16.8, 17.1, 17.6, 18.2, 18.2, 18.3, 18.9, 20.4, 21.0, 27.2, 43.6, 97.0, 107, 136, 208, 396, 766}}}},
    // all-to-all
    {{{{9.7, 10.3, 11.4, 13.6, 15.6, 16.7, 16.7, 16.7, 18.5, 21.8, 27.9, 49.0, 63.7, 127, 225, 421, 810}},
      {{10.3, 10.8, 11.4, 12.8, 15.8, 17.3, 17.7, 17.7, 19.6, 24.2, 31.4, 46.9, 73.7, 125, 231, 427, 825}},
      {{11.0, 11.4, 11.4, 13.4, 15.0, 17.5, 18.8, 18.8, 22.1, 26.5, 34.7, 50.1, 88.8, 139, 237, 438, 834}}}},
}};

constexpr Curve pcie_all_reduce{
    7.5, 7.5, 9.1, 12.6, 18.8, 30.7, 50.0, 74.8, 121, 222, 429, 850, 1689, 3359, 6720, 13373, 26700};
constexpr Curve pcie_all_gather{
    6.8, 6.8, 8.3, 9.3, 12.4, 18.3, 35.4, 48.5, 71.8, 122, 228, 439, 868, 1732, 3476, 6931, 13698};
constexpr Curve pcie_reduce_scatter{
    5.8, 6.8, 8.3, 9.2, 12.5, 18.2, 33.9, 47.5, 72.6, 125, 234, 459, 901, 1818, 3637, 7180, 14182};
constexpr Curve pcie_all_to_all{
    9.3, 9.3, 9.3, 11.5, 17.2, 20.5, 27.2, 43.4, 66.1, 112, 206, 401, 764, 1525, 3008, 6020, 12042};
// clang-format on

/// Cards on one PCIe switch pass data round at the rate of a pair, however many they are; what grows is the time of the
/// smallest message, which was measured. Eight of the measured L40S sat behind two sockets without access to each
/// other, where rates fall to 1 to 2 GB/s: that is a host, not the accelerator.
constexpr Groups on_switch(const Curve& pair, double least_of_4, double least_of_8) {
  Groups groups{pair, pair, pair};
  for (std::size_t i = 0; i < pair.size(); ++i) {
    groups[1][i] = least_of_4 + (pair[i] - pair[0]) * ring_share(4) / ring_share(2);
    groups[2][i] = least_of_8 + (pair[i] - pair[0]) * ring_share(8) / ring_share(2);
  }
  return groups;
}

constexpr Collectives pcie_times{on_switch(pcie_all_reduce, 12.0, 22.4), on_switch(pcie_all_gather, 9.1, 13.6),
                                 on_switch(pcie_reduce_scatter, 9.1, 15.5), on_switch(pcie_all_to_all, 9.6, 12.4)};

constexpr FabricCurves nvlink3_curves{"NVLink 3 of A100 SXM", quantity::gigabytes_per_second(300), nvlink3_times};
constexpr FabricCurves nvlink4_curves{"NVLink 4 of H100 SXM", quantity::gigabytes_per_second(450), nvlink4_times};
constexpr FabricCurves nvlink5_curves{"NVLink 5 of B200 SXM", quantity::gigabytes_per_second(900), nvlink5_times};
constexpr FabricCurves pcie_curves{"PCIe 4 of two L40S", quantity::gigabytes_per_second(31.5), pcie_times};

}  // namespace

const FabricCurves& nvlink3() { return nvlink3_curves; }
const FabricCurves& nvlink4() { return nvlink4_curves; }
const FabricCurves& nvlink5() { return nvlink5_curves; }
const FabricCurves& pcie() { return pcie_curves; }

bool has_fabric(const spec::Accelerator& gpu) { return gpu.link && (!gpu.pcie || *gpu.link > *gpu.pcie); }

const FabricCurves& link_curves(const spec::Accelerator& gpu) {
  if (!has_fabric(gpu)) return pcie();
  if (!gpu.generation.can(spec::Ability::multicast)) return nvlink3();
  for (const FabricCurves* curves : {&nvlink5(), &nvlink4()}) {
    if (*gpu.link >= curves->link) return *curves;
  }
  return nvlink3();
}

quantity::Bandwidth board_bandwidth(const spec::Accelerator& gpu) { return gpu.pcie.value_or(pcie().link); }

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

/// What the smallest message takes longer among more ranks than were measured: all-reduces go through trees, the others
/// round rings, so it grows with the logarithm or with the number, as from 4 ranks to 8.
double growth(Collective kind, const Groups& groups, std::int64_t ranks) {
  if (ranks <= most_measured) return 0.0;
  const double doubling = groups[2].front() - groups[1].front();
  const double times = static_cast<double>(ranks) / static_cast<double>(most_measured);
  return kind == Collective::all_reduce ? doubling * quantity::log2(times) : doubling * 2.0 * (times - 1.0);
}

}  // namespace

Links::Links(const spec::Accelerator& gpu)
    : link_{&link_curves(gpu), link_curves(gpu).link / link_bandwidth(gpu)},
      board_{&pcie(), pcie().link / board_bandwidth(gpu)},
      joined_(has_fabric(gpu) ? gpu.joined : 0) {}

quantity::Seconds Links::collective(Collective kind, quantity::Bytes size, std::int64_t ranks,
                                    std::int64_t ring) const {
  const Fabric& fabric = among(ranks);
  const std::size_t column = ranks <= 2 ? 0 : ranks <= 4 ? 1 : 2;
  const Groups& groups = fabric.curves->times[static_cast<std::size_t>(kind)];
  const Curve& curve = groups[column];
  const auto measured = static_cast<double>(std::int64_t{2} << column);
  const double stretch = fabric.slowdown * ring_share(static_cast<double>(ring)) / ring_share(measured);
  const double least = curve.front() + growth(kind, groups, ranks);
  return quantity::seconds(microsecond * (least + (at(curve, size) - curve.front()) * stretch));
}

/// Each of two ranks that exchange a tensor all-to-all sends half of it.
quantity::Seconds Links::neighbours(quantity::Bytes size, std::int64_t ranks) const {
  const Fabric& fabric = among(ranks);
  const Curve& pair = fabric.curves->times[static_cast<std::size_t>(Collective::all_to_all)].front();
  return quantity::seconds(microsecond * (pair.front() + (at(pair, 2 * size) - pair.front()) * fabric.slowdown));
}

}  // namespace llmcalc::timing
