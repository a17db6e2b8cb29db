// What NCCL holds for the groups of a rank, against what people measured of it.

#include "asked.hpp"
#include "catch.hpp"
#include "memory/communicators.hpp"

using namespace llmcalc;

namespace {

double mebibytes(const std::string& words) {
  const auto question = test::question_of("--model mixtral-8x7b --seq 4k " + words);
  return static_cast<double>(quantity::in_bytes(memory::communicator_buffers(question))) / (1 << 20);
}

}  // namespace

TEST_CASE("one group of 8 H100 takes the 392 MiB that AIConfigurator budgets for NCCL") {
  CHECK(mebibytes("--gpu h100-sxm:8 --tp 8") == Approx(392).epsilon(0.03));
}

TEST_CASE("channels follow the links: 24 on A100 and 16 on H800, as their logs say, and few over PCIe") {
  CHECK(mebibytes("--gpu a100-80-sxm:8 --zero 3") == 24 * 12);
  CHECK(mebibytes("--gpu h800-sxm:8 --zero 3") == 16 * 12);
  CHECK(mebibytes("--gpu rtx-4090:2 --zero 3") == 2 * 12);
}

TEST_CASE("an all-to-all opens channels to every peer of the node: 3.28 GB on 8 H100 (nccl issue 1685)") {
  const double with = mebibytes("--gpu h100-sxm:8 --ep 8") - mebibytes("--gpu h100-sxm:8");
  CHECK(with == 7 * 32 * 12);
  CHECK(with * (1 << 20) == Approx(3.28e9).epsilon(0.15));
}

TEST_CASE("each way to be parallel has a group of its own, and two ways one more of all ranks") {
  const double group = 32 * 12;
  CHECK(mebibytes("--gpu h100-sxm:8 --tp 4 --zero 1") == 3 * group);
  CHECK(mebibytes("--gpu h100-sxm:64 --nodes 8 --tp 8 --zero 1") == 3 * group);
  CHECK(mebibytes("--gpu h100-sxm:8 --sharding hsdp --sharding-group 4") == 2 * group);
  CHECK(mebibytes("--gpu h100-sxm:8 --cp 8") == 2 * group);
}

TEST_CASE("stages of one node are peers, stages on nodes of their own share a buffer with all others") {
  const double group = 32 * 12;
  CHECK(mebibytes("--gpu h100-sxm:8 --pp 8") == 2 * group);
  CHECK(mebibytes("--gpu h100-sxm:16 --nodes 2 --tp 8 --pp 2") == 2 * group);
}

// Megatron-LM core/parallel_state.py: the tensor, data, expert and expert-data groups of a rank, and that of all ranks.
// Of 16 ranks that cut layers 8 ways, 8 hold the same whole expert; of experts that are cut so too, none does.
TEST_CASE("experts have groups of their own, whose ranks are those of tensor parallelism too") {
  const double group = 32 * 12;
  const std::string words = "--framework megatron --gpu h100-sxm:16 --nodes 2 --tp 8 --zero 1 --ep 2 ";
  CHECK(mebibytes(words + "--etp 1") == 5 * group);
  CHECK(mebibytes(words + "--etp 8") == 4 * group);
  CHECK(mebibytes("--framework megatron --gpu h100-sxm:8 --tp 2 --zero 1 --ep 4 --etp 1") == (3 + 3 + 1) * group);
}

TEST_CASE("one rank has none, and a person's own figure replaces all") {
  CHECK(mebibytes("--gpu h100-sxm") == 0);
  CHECK(mebibytes("--gpu h100-sxm:8 --ep 8 --nccl-bytes 100MiB") == 100);
}
