// Where groups lie, with ranks numbered as Megatron-LM does: the expected groups are those of the examples in
// core/parallel_state.py, initialize_model_parallel.
#include "catch.hpp"
#include "parts.hpp"
#include "timing/network.hpp"

using namespace llmcalc;
using namespace llmcalc::timing_test;
using layers::RankGroup;
using timing::GroupSpan;
using timing::Network;

namespace {

void check(const GroupSpan& span, std::int64_t ranks, std::int64_t per_node, std::int64_t sharing) {
  CHECK(span.ranks == ranks);
  CHECK(span.per_node == per_node);
  CHECK(span.sharing == sharing);
}

}  // namespace

TEST_CASE("16 ranks with tensor 2 and pipeline 4 lie as in Megatron's example") {
  // Tensor groups [g0, g1], ...; data groups [g0, g2], [g1, g3], ...; pipeline groups [g0, g4, g8, g12], ...
  const Network network(a100(), spread_over(16, 2, 4));
  check(network.span(RankGroup::tensor), 2, 2, 4);
  check(network.data(), 2, 2, 4);
}

TEST_CASE("a tensor group fills its node or spans whole nodes") {
  check(Network(a100(), spread_over(64, 8)).span(RankGroup::tensor), 8, 8, 1);
  check(Network(a100(), spread_over(64, 16)).span(RankGroup::tensor), 16, 8, 1);
  check(Network(a100(), spread_over(64, 1)).span(RankGroup::tensor), 1, 1, 1);
}

// initialize_model_parallel numbers tensor groups one behind the other: [g0, g1, g2], [g3, g4, g5], [g6, g7, g8], and a
// machine of eight ends between g7 and g8.
TEST_CASE("tensor groups that do not fill a node evenly lie over its two edges") {
  check(Network(a100(), spread_over(24, 3)).span(RankGroup::tensor), 3, 1, 2);
  check(Network(a100(), spread_over(48, 6)).span(RankGroup::tensor), 6, 2, 2);
  auto partly = spread_over(20, 2);  // five of the eight of each of four machines
  partly.nodes = 4;
  CHECK(Network(a100(), partly).span(RankGroup::tensor).nodes() == 1);
}

TEST_CASE("data-parallel groups lie between the tensor-parallel ones of a node") {
  check(Network(a100(), spread_over(64, 8)).data(), 8, 1, 8);
  check(Network(a100(), spread_over(64, 4)).data(), 16, 2, 4);
  check(Network(a100(), spread_over(64, 1)).data(), 64, 8, 1);
  check(Network(a100(), spread_over(64, 16)).data(), 4, 1, 8);
}

TEST_CASE("context-parallel ranks reduce gradients with the data-parallel ones") {
  auto layout = spread_over(64, 2);
  layout.cp = 4;
  layout.dp = 8;
  const Network network(a100(), layout);
  check(network.span(RankGroup::context), 4, 4, 2);
  check(network.data(), 32, 4, 2);
}

TEST_CASE("experts are spread over data-parallel ranks that are neighbours") {
  auto layout = spread_over(64, 2);
  layout.ep = 8;
  const Network network(a100(), layout);
  check(network.span(RankGroup::expert), 8, 8, 1);
  check(network.span(RankGroup::expert_tensor), 1, 1, 1);
  check(network.expert_data(), 8, 1, 8);
  layout.etp = 2;
  const Network cut(a100(), layout);
  check(cut.span(RankGroup::expert), 8, 4, 2);
  check(cut.span(RankGroup::expert_tensor), 2, 2, 4);
  check(cut.expert_data(), 4, 1, 8);
}

TEST_CASE("states are sharded over all data-parallel ranks, over a group of them, or not at all") {
  auto layout = spread_over(64, 1);
  check(Network(a100(), layout).sharding(), 1, 1, 1);
  layout.sharding = spec::Sharding::zero1;
  check(Network(a100(), layout).sharding(), 64, 8, 1);
  layout.sharding_group = 16;
  check(Network(a100(), layout).sharding(), 16, 8, 1);
  check(Network(a100(), layout).replicas(), 4, 1, 8);
  layout.sharding = spec::Sharding::hsdp;
  layout.sharding_group = 0;
  check(Network(a100(), layout).sharding(), 8, 8, 1);
  check(Network(a100(), layout).replicas(), 8, 1, 8);
}

TEST_CASE("a rack of 72 holds 64 of 128 ranks, and its machines' adapters together") {
  auto gpu = b200();
  gpu.gpus_per_node = 4;
  gpu.joined = 72;
  auto layout = spread_over(128, 8);
  layout.nodes = 32;
  const Network network(gpu, layout);
  check(network.span(RankGroup::tensor), 8, 8, 8);
  check(network.data(), 16, 8, 8);
  // Eight data-parallel groups of a rack share 64 adapters of 400 Gbit/s: 360 GB/s each at nine tenths.
  const auto size = quantity::gib(4);
  const double seconds = quantity::in_seconds(network.collective(layers::Collective::all_gather, size, network.data()));
  CHECK(15.0 / 16.0 * quantity::in_gigabytes(size) / seconds == Approx(360).epsilon(0.01));
}

TEST_CASE("a bridge joins a pair, and more than a pair use PCIe") {
  auto gpu = part(56.25, 31.5, 100);
  gpu.joined = 2;
  const Network network(gpu, spread_over(8, 1));
  const auto rate = [&](std::int64_t ranks) {
    const GroupSpan span{ranks, ranks, 1};
    return 1.0 / quantity::in_seconds(network.collective(layers::Collective::all_to_all, quantity::gib(1), span));
  };
  CHECK(rate(2) > 2.0 * rate(4));
}

// nccl-tests of two RTX 2080 Ti, 1 GiB: twice the largest size of the table.
TEST_CASE("a pair that does not reach its other's memory reduces through the host's") {
  auto gpu = part(15.8, 15.8, 100);
  gpu.peers = false;
  const Network network(gpu, spread_over(2, 1));
  const auto time = network.collective(layers::Collective::all_reduce, quantity::gib(1), GroupSpan{2, 2, 1});
  CHECK(quantity::in_seconds(time) == Approx(0.2686).epsilon(0.001));
}
