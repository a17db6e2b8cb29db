// Prices of collectives against measured bus bandwidths: nccl-tests defines those as bytes over time, times 2(n-1)/n
// for an all-reduce and (n-1)/n for the others.
#include "catch.hpp"
#include "parts.hpp"
#include "timing/network.hpp"

#include <cmath>

using namespace llmcalc;
using namespace llmcalc::timing_test;
using layers::Collective;
using quantity::bytes;
using quantity::gib;
using quantity::kib;
using quantity::mib;
using timing::GroupSpan;
using timing::Network;

namespace {

double micros(const Network& network, Collective kind, quantity::Bytes size, const GroupSpan& span) {
  return 1e6 * quantity::in_seconds(network.collective(kind, size, span));
}

double bus_bandwidth(const Network& network, Collective kind, quantity::Bytes size, const GroupSpan& span) {
  const auto n = static_cast<double>(span.ranks);
  const double share = (kind == Collective::all_reduce ? 2.0 : 1.0) * (n - 1.0) / n;
  return share * quantity::in_gigabytes(size) / quantity::in_seconds(network.collective(kind, size, span));
}

/// GB/s of 16 MiB, 64 MiB and 512 MiB among 8 accelerators.
struct Measured {
  spec::Accelerator gpu;
  Collective kind;
  double bandwidth[3];
};

constexpr Collective all_kinds[] = {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                    Collective::all_to_all};

}  // namespace

TEST_CASE("collectives in a node reach the measured bus bandwidth") {
  const Measured rows[] = {
      {a100(), Collective::all_reduce, {136, 197, 222}},     {a100(), Collective::all_gather, {109, 167, 205}},
      {a100(), Collective::reduce_scatter, {119, 179, 213}}, {a100(), Collective::all_to_all, {128, 169, 203}},
      {h100(), Collective::all_reduce, {241, 362, 445}},     {h100(), Collective::all_gather, {213, 282, 335}},
      {h100(), Collective::reduce_scatter, {211, 293, 336}}, {h100(), Collective::all_to_all, {194, 265, 315}},
      {b200(), Collective::all_reduce, {296, 422, 704}},     {b200(), Collective::all_gather, {141, 427, 617}},
      {b200(), Collective::reduce_scatter, {151, 431, 613}}, {b200(), Collective::all_to_all, {293, 423, 563}},
  };
  const quantity::Bytes sizes[] = {mib(16), mib(64), mib(512)};
  for (const Measured& row : rows) {
    const Network network(row.gpu, spread_over(8, 8));
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      INFO(quantity::in_gigabytes_per_second(*row.gpu.link) << " " << static_cast<int>(row.kind) << " " << i);
      CHECK(bus_bandwidth(network, row.kind, sizes[i], {8, 8, 1}) == Approx(row.bandwidth[i]).epsilon(0.007));
    }
  }
}

TEST_CASE("an H200 is within 4 % of an H100, whose links it has") {
  const Network network(h100(), spread_over(8, 8));
  CHECK(bus_bandwidth(network, Collective::all_reduce, mib(16), {8, 8, 1}) == Approx(241).epsilon(0.04));
  CHECK(bus_bandwidth(network, Collective::all_reduce, mib(64), {8, 8, 1}) == Approx(367).epsilon(0.04));
  CHECK(bus_bandwidth(network, Collective::all_reduce, mib(512), {8, 8, 1}) == Approx(460).epsilon(0.04));
  CHECK(bus_bandwidth(network, Collective::all_reduce, gib(16), {8, 8, 1}) == Approx(480).epsilon(0.05));
  CHECK(bus_bandwidth(network, Collective::all_gather, gib(16), {8, 8, 1}) == Approx(361.4).epsilon(0.07));
  CHECK(bus_bandwidth(network, Collective::all_reduce, gib(8), {4, 4, 1}) == Approx(363.3).epsilon(0.02));
}

TEST_CASE("small messages take what the smallest measured one takes") {
  const std::pair<spec::Accelerator, std::pair<double, double>> floors[] = {
      {a100(), {22.6, 15.6}}, {h100(), {15.6, 10.1}}, {b200(), {25.1, 16.1}}};
  for (const auto& [gpu, floor] : floors) {
    const Network network(gpu, spread_over(8, 8));
    CHECK(micros(network, Collective::all_reduce, bytes(512), {8, 8, 1}) == Approx(floor.first).epsilon(0.07));
    CHECK(micros(network, Collective::all_gather, bytes(512), {8, 8, 1}) == Approx(floor.second).epsilon(0.07));
    CHECK(micros(network, Collective::reduce_scatter, bytes(512), {8, 8, 1}) == Approx(floor.second).epsilon(0.08));
  }
}

TEST_CASE("links that nobody measured are a measured one's, as fast as their data sheet") {
  // NVIDIA GTC 2024 S62129: V100 122 GB/s of 150, PCIe 4 24 of 31.
  CHECK(bus_bandwidth(Network(v100(), spread_over(8, 8)), Collective::all_reduce, gib(4), {8, 8, 1}) ==
        Approx(122).epsilon(0.1));
  CHECK(bus_bandwidth(Network(part(31.5, 31.5, {}), spread_over(8, 8)), Collective::all_reduce, gib(4), {8, 8, 1}) ==
        Approx(24).epsilon(0.2));
}

TEST_CASE("fabrics whose switch reduces nothing pass all-reduces round rings") {
  const auto gain = [](bool multicast) {
    const Network network(part(450, 63, 400, multicast), spread_over(8, 8));
    return bus_bandwidth(network, Collective::all_reduce, gib(4), {8, 8, 1}) /
           bus_bandwidth(network, Collective::reduce_scatter, gib(4), {8, 8, 1});
  };
  CHECK(gain(true) > 1.3);  // 480 GB/s with NVLS, 367 without (stas00/ml-engineering network/README.md, 8 H200)
  CHECK(gain(false) == Approx(1.0).epsilon(0.05));
}

TEST_CASE("72 accelerators of a rack reduce as one node") {
  auto gpu = b200();
  gpu.joined = 72;
  spec::Layout layout = spread_over(72, 1);
  layout.nodes = 18;
  const Network network(gpu, layout);
  CHECK(network.data().per_node == 72);
  // NVIDIA GTC 2025 S72583: 850 GB/s with reduction in the switch, 680 without.
  const double rate = bus_bandwidth(network, Collective::all_reduce, gib(16), network.data());
  CHECK(rate > 680);
  CHECK(rate < 850);
}

TEST_CASE("large all-reduces over nodes reach nine tenths of the adapters") {
  // GTC 2024 S62129: DGX A100 with 8 x 200 Gbit/s 192 GB/s, DGX H100 with 8 x 400 Gbit/s 380 GB/s.
  const auto over_nodes = [](const spec::Accelerator& gpu) {
    const Network network(gpu, spread_over(32, 1));
    return bus_bandwidth(network, Collective::all_reduce, gib(16), network.data());
  };
  CHECK(over_nodes(a100()) == Approx(192).epsilon(0.08));
  CHECK(over_nodes(h100()) == Approx(380).epsilon(0.08));
}

TEST_CASE("a stated network replaces the typical one") {
  // stas00/ml-engineering network/benchmarks, all_reduce_bench on 4 nodes of 8: 91.69 GB/s of 16 GiB, 93.9 of 16 MiB,
  // 17.1 of 1 MiB, 0.92 of 32 KiB. The nodes' network is not named; 800 Gbit/s is what such a rate needs.
  spec::Layout layout = spread_over(32, 1);
  layout.inter_node_gbps = 800;
  const Network network(a100(), layout);
  const auto rate = [&](quantity::Bytes size) {
    return bus_bandwidth(network, Collective::all_reduce, size, network.data());
  };
  CHECK(rate(gib(16)) == Approx(91.69).epsilon(0.05));
  CHECK(rate(mib(16)) == Approx(93.9).epsilon(0.2));
  CHECK(rate(mib(1)) == Approx(17.1).epsilon(0.45));  // where NCCL changes protocols
  CHECK(rate(kib(32)) == Approx(0.92).epsilon(0.2));
}

TEST_CASE("tensor-parallel groups over nodes have the adapters to themselves, data-parallel ones share them") {
  // With 200 Gbit/s adapters eight groups of one rank a node have 25 GB/s each, one group of eight has 200.
  const Network wide(a100(), spread_over(16, 16));
  const Network many(a100(), spread_over(16, 8));
  const double alone = bus_bandwidth(wide, Collective::all_reduce, gib(1), wide.span(layers::RankGroup::tensor));
  const double shared = bus_bandwidth(many, Collective::all_reduce, gib(1), many.data());
  CHECK(alone == Approx(180).epsilon(0.02));
  CHECK(shared == Approx(22.5).epsilon(0.02));
}

TEST_CASE("a stage sends through one adapter where the next one is on another node") {
  // 1 GiB over 200 Gbit/s at 90 %, and inside a node at the rate of a pair: 164 GB/s (A100, all-to-all of 2).
  const Network across(a100(), spread_over(16, 8, 2));
  const Network within(a100(), spread_over(8, 4, 2));
  CHECK(quantity::in_seconds(across.to_next_stage(gib(1))) == Approx(1.0737 / 22.5).epsilon(0.01));
  CHECK(quantity::in_seconds(within.to_next_stage(gib(1))) == Approx(1.0737 / 169).epsilon(0.05));
  CHECK(within.to_next_stage(bytes(0)) == quantity::Seconds());
  CHECK(Network(a100(), spread_over(8, 8)).to_next_stage(gib(1)) == quantity::Seconds());
}

TEST_CASE("a ring passes to neighbours as often as it has other ranks") {
  const Network network(h100(), spread_over(8, 1));
  const double pair = micros(network, Collective::ring, mib(64), {2, 2, 1});
  CHECK(micros(network, Collective::ring, 7 * mib(64), {8, 8, 1}) == Approx(7 * pair));
  // All-to-all of two H100 and 128 MiB, of which each sends half: 259.6 us.
  CHECK(pair == Approx(259.6).epsilon(0.01));
}

TEST_CASE("more bytes never take less time") {
  for (const auto& gpu : {a100(), h100(), b200(), v100(), part(31.5, 31.5, {})}) {
    const Network network(gpu, spread_over(128, 4, 2));
    const GroupSpan spans[] = {{2, 2, 1}, {3, 3, 1}, {8, 8, 1}, {64, 8, 1}, {16, 2, 4}, {16, 1, 8}};
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                  Collective::all_to_all, Collective::ring}) {
      for (const GroupSpan& span : spans) {
        double before = 0.0;
        for (double size = 1.0; size < 1e12; size *= 1.3) {
          const double now = micros(network, kind, bytes(static_cast<std::int64_t>(size)), span);
          INFO(static_cast<int>(kind) << " " << span.ranks << " " << size);
          REQUIRE(now >= before);
          before = now;
        }
      }
    }
  }
}

TEST_CASE("a ring over more nodes is never faster") {
  const Network network(h100(), spread_over(1024, 1));
  for (const Collective kind : all_kinds) {
    double before = micros(network, kind, mib(64), {8, 8, 1});
    for (const std::int64_t ranks : {16, 32, 64, 512, 1024}) {
      const double now = micros(network, kind, mib(64), {ranks, 8, 1});
      INFO(static_cast<int>(kind) << " " << ranks);
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("prices say where they come from") {
  auto layout = spread_over(16, 8);
  CHECK_THAT(timing::network_source(h100(), layout), Catch::Matchers::Contains("NVLink 4 of H100"));
  CHECK_THAT(timing::network_source(h100(), layout), Catch::Matchers::Contains("3200 Gbit/s a node (typical"));
  CHECK_THAT(timing::network_source(v100(), layout), Catch::Matchers::Contains("scaled from 300 to 150 GB/s"));
  CHECK_THAT(timing::network_source(part(31.5, 31.5, {}), layout),
             Catch::Matchers::Contains("100 Gbit/s a node (assumed)"));
  layout.inter_node_gbps = 400;
  CHECK_THAT(timing::network_source(h100(), layout), Catch::Matchers::Contains("400 Gbit/s a node (--inter-node)"));
}

/// Eight draws among two nodes miss one of them once in 128: 2 (1 - 2^-8) / 8 of the copies leave, at the adapters'
/// full rate instead of three quarters; what it takes to set the dispatch up is little beside 16 GiB.
TEST_CASE("a node is sent one copy of a row that several of its ranks want") {
  const Network network(h100(), spread_over(16, 1));
  const GroupSpan span{16, 8, 1};
  const auto seconds = [&](std::int64_t copies) {
    return quantity::in_seconds(network.collective(layers::Collective::all_to_all, quantity::gib(16), span, copies));
  };
  CHECK(seconds(8) / seconds(1) == Approx(0.75 * 2.0 * (1.0 - 1.0 / 256.0) / 8.0).epsilon(0.02));
}
