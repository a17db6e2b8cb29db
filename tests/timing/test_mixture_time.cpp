// What a mixture of experts adds to a step beside its products: launches, biases, a host that waits, exchanges.

#include "catch.hpp"
#include "timing/steps.hpp"

using namespace llmcalc;
using quantity::in_seconds;
using test::step_of;

namespace {

const std::string gpt_oss =
    "--model gpt-oss-120b --framework megatron --dtype bf16 --seq 4096 --gpu gb300 --gpus 64 --ep 64 --sharding zero1 "
    "--micro-batch 4 --global-batch 1280 ";

const std::string qwen_on_two_nodes =
    "--model qwen3-30b-a3b --framework megatron --dtype bf16 --grads bf16 --seq 4096 --gpu h100-sxm --gpus 16 --nodes "
    "2 "
    "--ep 16 --sharding zero1 --micro-batch 1 --global-batch 1024 --node-dispatch 1 --cuda-graph scoped";

}  // namespace

/// 72 bytes an element of 4 x 4,096 tokens, 4 experts each, 2,880 wide (experts.py, TEGroupedMLP._apply_bias), at 0.49
/// of 8 TB/s in 36 layers and 5 micro-batches: 0.62 s.
TEST_CASE("biases of experts take what their loop moves, and nothing inside grouped kernels") {
  const auto loop = step_of(gpt_oss + "--cuda-graph scoped");
  const auto fused = step_of(gpt_oss + "--cuda-graph full");
  const double moved = 72.0 * 4 * 4096 * 4 * 2880 * 36 * 5;
  const double added = in_seconds(loop.forward.streams + loop.backward.streams) -
                       in_seconds(fused.forward.streams + fused.backward.streams);
  CHECK(added == Approx(moved / (0.49 * 8e12)).epsilon(0.05));
}

/// NVIDIA-NeMo/Megatron-Bridge pull request 5094: 24.71 s a step, of which 4 exchanges in each of 48 layers and 64
/// micro-batches take 0.67 ms each; 20.99 s with overlap.
TEST_CASE("experts between two nodes exchange in 0.67 ms, of which overlap hides about half") {
  const auto plain = step_of(qwen_on_two_nodes);
  const auto overlapped = step_of(qwen_on_two_nodes + " --expert-overlap 1");
  const double exchanges = in_seconds(plain.forward.expert + plain.backward.expert);
  CHECK(exchanges / (4 * 48 * 64) == Approx(0.67e-3).epsilon(0.05));
  const double hidden = exchanges - in_seconds(overlapped.forward.expert + overlapped.backward.expert);
  CHECK(hidden == Approx(24.71 - 20.99).epsilon(0.2));
  CHECK(in_seconds(plain.total()) == Approx(24.71).epsilon(0.15));
  CHECK(in_seconds(overlapped.total()) == Approx(20.99).epsilon(0.15));
}

TEST_CASE("a captured iteration waits for no host, a captured part for what is left") {
  const std::string small =
      "--model qwen3-30b-a3b --framework megatron --compute mxfp8 --seq 1024 --gpu b200-sxm --gpus 8 --ep 2 "
      "--micro-batch 1 --cuda-graph ";
  const auto host = [&](const std::string& graph) {
    const auto step = step_of(small + graph);
    return in_seconds(step.forward.host + step.backward.host);
  };
  CHECK(host("full") == 0.0);
  CHECK(host("none") > host("scoped"));
  CHECK(host("scoped") > 0.0);
}
