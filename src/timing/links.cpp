#include "timing/links.hpp"

#include "timing/inner/fabric_curves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace llmcalc::timing {

namespace {

using layers::Collective;

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
  return kind == Collective::all_reduce ? doubling * std::log2(times) : doubling * 2.0 * (times - 1.0);
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
