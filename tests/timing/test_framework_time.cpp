// What a step takes more or less because of how a framework or a project runs it.

#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "timing/steps.hpp"

#include <algorithm>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_seconds;
using test::step_of;

namespace {

bool has_operation(const layers::Block& block, layers::OpKind kind) {
  return std::ranges::any_of(block.ops, [&](const layers::Op& op) { return op.kind == kind; });
}

}  // namespace

/// bigscience train/tr11-176B-ml/chronicles-prequel.md, "dealing with JZ hanging": 97.20 TFLOP/s on 80 GPUs, 91.04 with
/// CUDA_LAUNCH_BLOCKING=1.
TEST_CASE("a host that waits for each kernel costs what BigScience measured") {
  const std::string line =
      "--layers 80 --hidden 14400 --heads 96 --kv-heads 96 --ffn 57600 --vocab 250880 --mlp gelu --norm layernorm"
      " --position alibi --bias all --tied 1 --framework megatron-deepspeed --weights fp16 --seq 2048 --grad-accum 512"
      " --recompute full --attention eager --gpu a100-80-sxm --gpus 80 --nodes 10 --tp 8 --pp 10 --sharding zero1"
      " --inter-node-gbps 400 --framework-version BigScience Megatron-DeepSpeed, ";
  const auto ahead = step_of(line + "2021");
  const auto waiting = step_of(line + "2022 --launch-blocking 1");
  CHECK(in_seconds(ahead.forward.host) == 0.0);
  CHECK(waiting.total() / ahead.total() == Approx(97.20 / 91.04).epsilon(0.03));
}

/// NVIDIA/JAX-Toolbox rosetta/projects/pax/README.md, 5B on 256 A100 with Transformer Engine: 4694.56 tokens/s a GPU in
/// 2023, when no fused kernel took 2,048 positions, and 5745.52 in 2024.
TEST_CASE("Pax writes attention out until a fused kernel takes its place") {
  const std::string line =
      "--layers 24 --hidden 4096 --heads 32 --kv-heads 32 --ffn 16384 --vocab 50304 --mlp gelu --norm layernorm"
      " --position learned --bias all --tied 1 --dropout 0.1 --framework pax --weights fp32 --compute bf16 --autocast 1"
      " --seq 2048 --micro-batch 8 --recompute selective --attention flash --compile 1 --gpu a100-80-sxm --gpus 256"
      " --nodes 32 --sharding zero3 --inter-node-gbps 1600 --fused-kernels ";
  const double old = in_seconds(step_of(line + "1 --framework-version Pax rosetta 2023").total());
  const double later = in_seconds(step_of(line + "1 --framework-version Pax rosetta 2024").total());
  CHECK(old / later == Approx(5745.52 / 4694.56).epsilon(0.06));
  const test::Asked of_xla(line + "0 --framework-version Pax rosetta 2024");
  CHECK(has_operation(of_xla.program.blocks[1], layers::OpKind::softmax));
  CHECK_FALSE(has_operation(of_xla.program.blocks[1], layers::OpKind::attention));
}

/// Layers run in a loop (praxis layers/repeats.py), whose body XLA schedules by itself: its first product waits for its
/// weight, forward and backward, and nothing follows the last gradient.
TEST_CASE("Pax shows what its layers exchange first and last") {
  const std::string line =
      "--model llama-2-7b --framework pax --seq 4096 --micro-batch 4 --gpu a100-80-sxm:64 --nodes 8 --sharding zero3"
      " --inter-node-gbps 1600";
  test::Asked asked(line);
  const double in_loop = in_seconds(step_of(asked).data);
  asked.profile.exchange.overlaps_within_layer = false;
  const double ahead = in_seconds(step_of(asked).data);
  const timing::Network network(*asked.question.gpu, asked.question.layout);
  const auto time = [&](layers::Collective kind, std::int64_t elements, std::int64_t width) {
    return in_seconds(network.collective(kind, quantity::bytes(width * elements), network.sharding()));
  };
  constexpr std::int64_t attention = std::int64_t{3} * 4096 * 4096, down = std::int64_t{4096} * 11'008;
  using enum layers::Collective;
  const double edges = time(all_gather, attention, 2) + time(all_gather, down, 2) + time(reduce_scatter, attention, 4);
  CHECK(in_loop - ahead == Approx((1.0 - 0.189) * 32 * edges).epsilon(0.02));  // collectives slow what they run beside
}

/// InternLM model/metrics.py, AccPerplex.update: the loss of each token, two maxima, argmax, difference, exponential
/// and sum read the fp32 logits, difference and exponential write them.
TEST_CASE("InternEvo's metrics pass over the logits nine times") {
  const test::Asked asked(
      "--model internlm-7b --framework internevo --dtype mixed-bf16 --seq 2048 --micro-batch 1 --gpu a100-80-sxm");
  const auto& head = asked.program.blocks.back();
  const auto metrics = std::ranges::find(head.ops, "metrics of training", &layers::Op::name);
  REQUIRE(metrics != head.ops.end());
  CHECK(in_bytes(metrics->moved_forward) == std::int64_t{9} * 4 * 2048 * asked.question.model.shape.vocab);
}

/// NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/recipes: cross_entropy_fusion_impl = "te"; NeMo's of 2024 leave
/// cross_entropy_loss_fusion off, which is 4 more bytes a logit kept and ten passes over them.
TEST_CASE("Megatron-Bridge's recipes take the loss in one kernel") {
  const std::string line = "--model llama-3-8b --dtype mixed-bf16 --seq 8k --micro-batch 1 --gpu h100-sxm --framework ";
  const auto softmax_passes = [](const layers::Block& head) {
    return std::ranges::count(head.ops, "softmax in place", &layers::Op::name);
  };
  const test::Asked bridge(line + "megatron-bridge");
  const test::Asked core(line + "megatron");
  CHECK(softmax_passes(bridge.program.blocks.back()) == 0);
  CHECK(softmax_passes(core.program.blocks.back()) == 1);
  const auto fused = step_of(line + "megatron-bridge --loss te-fused");
  CHECK(in_seconds(step_of(line + "megatron-bridge").total()) == in_seconds(fused.total()));
}

/// microsoft/Megatron-DeepSpeed megatron/model/transformer.py: `x = torch.chunk(x, 2, dim=-1); F.silu(x[0]) * x[1]`, of
/// which silu keeps a half and the product the other and silu's result.
TEST_CASE("Megatron-DeepSpeed's SwiGLU is a chain that keeps the activated gate") {
  const std::string line = "--model llama-2-7b --seq 4096 --gpu a100-80-sxm --weights bf16 --framework ";
  const auto glu = [](const test::Asked& asked) {
    const auto& ops = asked.program.blocks[1].ops;
    return *std::ranges::find(ops, "gated product", &layers::Op::name);
  };
  constexpr std::int64_t half = std::int64_t{4096} * 11008 * 2;
  const test::Asked chain(line + "megatron-deepspeed");
  const test::Asked kernel(line + "megatron");
  CHECK(in_bytes(glu(chain).moved_forward) == (2 + 3) * half);
  CHECK(in_bytes(glu(chain).moved_backward) == (6 + 3 + 4) * half);
  CHECK(in_bytes(glu(kernel).moved_forward) == 3 * half);
  const auto kept = [](const test::Asked& asked) {
    return in_bytes(memory::walk_block(asked.program.blocks[1], {}).kept);
  };
  CHECK(kept(chain) - kept(kernel) == half);
}

/// 7 bytes an element where one kernel reads branch and residual and writes their sum and the mask of one byte
/// (Megatron-LM core/fusions/fused_bias_dropout.py); 5 and 6 in torch.nn.Dropout and an addition.
TEST_CASE("Megatron drops from a branch and adds it to the residual in one kernel") {
  const std::string line =
      "--model gpt3-175b --seq 2048 --micro-batch 1 --attention eager --dropout 0.1 --gpu a100-80-sxm --framework ";
  const auto moved = [](const test::Asked& asked) {
    const auto& ops = asked.program.blocks[1].ops;
    const auto last = ops.end() - 1;
    return in_bytes((last - 1)->moved_forward + last->moved_forward);
  };
  constexpr std::int64_t elements = std::int64_t{2048} * 12288;
  CHECK(moved(test::Asked(line + "megatron")) == 7 * elements);
  CHECK(moved(test::Asked(line + "deepspeed --weights bf16")) == (5 + 6) * elements);
}

/// karpathy/llm.c: kernels are handed over from C++, and a bias has a kernel for its gradient
/// (llmc/matmul.cuh, matmul_backward_bias_kernel9), which reads the output's 3, 1, 4 and 1 times the width.
TEST_CASE("llm.c waits for no host and sums the gradients of its biases apart") {
  const std::string line = "--model gpt2 --vocab 50304 --dropout 0 --dtype bf16 --attention flash --seq 1024";
  const std::string part = " --micro-batch 1 --gpu h100-sxm";
  CHECK(in_seconds(step_of(line + part + " --framework llm.c").backward.host) == 0.0);
  CHECK(in_seconds(step_of(line + part + " --framework torch").backward.host) > 0.0);
  const test::Asked run(line + part + " --framework llm.c");
  std::int64_t moved = 0;
  for (const layers::Op& op : run.program.blocks[1].ops)
    if (op.name == "bias gradient") moved += in_bytes(op.moved_backward);
  CHECK(moved == std::int64_t{9} * 768 * 1024 * 2);
}

/// karpathy/nanoGPT README.md, efficiency notes: from about 250 to 135 ms a step; 12 samples a step as train.py's.
/// Between the products a compiled layer moves 10 bytes a score: it reads scores and writes probabilities, then reads
/// scores and gradient and writes a gradient.
TEST_CASE("compiled attention passes over its scores once in each direction") {
  const std::string line =
      "--model gpt2 --vocab 50304 --framework torch --dtype mixed-bf16 --dropout 0 --attention eager --seq 1024"
      " --micro-batch 12 --gpu a100-40-sxm";
  const double compiled = in_seconds(step_of(line + " --compile 1").total());
  CHECK(compiled == Approx(0.135).epsilon(0.08));
  CHECK(in_seconds(step_of(line).total()) / compiled > 1.4);
  const test::Asked run(line + " --compile 1");
  for (const layers::Op& op : run.program.blocks[1].ops) {
    if (op.kind != layers::OpKind::softmax) continue;
    const double scores = 12.0 * 12 * 1024 * 1024;
    CHECK(static_cast<double>(in_bytes(op.moved_forward + op.moved_backward)) / scores == Approx(10).epsilon(0.01));
  }
}
