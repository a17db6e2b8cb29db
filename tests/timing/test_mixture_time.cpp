// What a mixture of experts adds to a step beside its products: launches, biases, a host that waits, exchanges.

#include "catch.hpp"
#include "timing/steps.hpp"

#include <algorithm>

using namespace llmcalc;
using quantity::in_bytes;
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

/// 72 bytes an element of 4 x 4,096 tokens, 4 experts each, 2,880 wide (experts.py, TEGroupedMLP._apply_bias), and 36
/// to clamp what the activation reads (fused_bias_geglu.py). A graph of the whole iteration replays them.
TEST_CASE("biases of experts and their clamp are moved within graphs as without") {
  const auto added = [](const std::string& graph) {
    const test::Asked asked(gpt_oss + "--cuda-graph " + graph);
    std::int64_t moved = 0;
    for (const layers::Op& op : asked.program.blocks[1].ops) {
      if (op.name == "expert biases" || op.name == "clamped gate and up")
        moved += in_bytes(op.moved_forward) + in_bytes(op.moved_backward);
    }
    return moved;
  };
  constexpr std::int64_t rows = std::int64_t{4} * 4 * 4096;
  CHECK(static_cast<double>(added("none")) == Approx(108.0 * rows * 2880).epsilon(1e-4));
  CHECK(added("full") == added("none"));
  const auto streams = [](const std::string& graph) {
    const auto step = step_of(gpt_oss + "--cuda-graph " + graph);
    return in_seconds(step.forward.streams + step.backward.streams);
  };
  CHECK(streams("full") == Approx(streams("scoped")).epsilon(1e-9));
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

/// Megatron-LM core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl: `torch.cat((x_glu.clamp(...),
/// x_linear.clamp(...)), -1)` ahead of the fused activation. Forward the matrix is read and written twice; backward
/// each clamp reads gradient and input and writes, and both gradients are put together.
TEST_CASE("Megatron-LM clamps gpt-oss's experts in kernels of PyTorch's own") {
  const std::string line =
      "--model gpt-oss-20b --framework megatron-bridge --dtype mixed-bf16 --seq 4096 --micro-batch 1 --gpu b200-sxm";
  const auto clamps = [](const test::Asked& asked) {
    std::vector<layers::Op> found;
    for (const layers::Op& op : asked.program.blocks[1].ops) {
      if (op.name == "clamped gate and up") found.push_back(op);
    }
    return found;
  };
  const auto written = clamps(test::Asked(line));
  REQUIRE(written.size() == 1);
  constexpr std::int64_t matrix = std::int64_t{4} * 4096 * 2 * 2880 * 2;  // top_k x tokens x both halves x bf16
  CHECK(in_bytes(written[0].moved_forward) == 4 * matrix);
  CHECK(in_bytes(written[0].moved_backward) == 5 * matrix);
  CHECK(written[0].saved.size() == 1);
  CHECK(clamps(test::Asked(line + " --cuda-graph full")).size() == 1);
  CHECK(clamps(test::Asked("--model qwen3-30b-a3b" + line.substr(line.find(" --framework")))).empty());
}

/// transformers integrations/moe.py, grouped_mm_experts_forward: `torch.nn.functional.grouped_mm` of all experts, and
/// of routed rows three masks, the weighting and the order, each read and written: 2 x (3 + 1 + 1) passes, of which one
/// mask is as wide as gate and up together. Before release 5 each expert is a module of its own.
TEST_CASE("transformers 5 multiplies all experts in one kernel where PyTorch has one") {
  const std::string line =
      "--model olmoe-1b-7b --framework hf --method lora --dtype bf16 --seq 2048 --micro-batch 2 --gpu ";
  const auto kernels_of = [&](const std::string& words) {
    const test::Asked asked(line + words);
    const auto& ops = asked.program.blocks[1].ops;
    return std::ranges::find(ops, "down projection", &layers::Op::name)->kernels;
  };
  CHECK(kernels_of("h100-sxm") == 1);
  CHECK(kernels_of("b200-sxm") == 1);
  CHECK(kernels_of("a100-80-sxm") == 64);
  CHECK(kernels_of("rtx-5090") == 64);
  CHECK(kernels_of("h100-sxm --framework-version 'transformers 4.57.0'") == 64);
  std::int64_t around = 0;
  const test::Asked asked(line + "h100-sxm");
  for (const layers::Op& op : asked.program.blocks[1].ops) {
    if (op.name == "mask and weigh rows" || op.name == "order of rows") around += in_bytes(op.moved_forward);
  }
  constexpr std::int64_t routed = std::int64_t{8} * 2 * 2048;  // top_k x tokens
  CHECK(around == 2 * routed * 2 * (2048 + 2 * 1024 + 2048 + 2048 + 2048));
}
