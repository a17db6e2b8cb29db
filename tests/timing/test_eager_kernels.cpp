// Kernels that PyTorch brings, against what others measured of them.

#include "catch.hpp"
#include "timing/kernel_prices.hpp"

using namespace llmcalc;

namespace {

const layers::Op& operation(const layers::Block& block, std::string_view name) {
  return *std::ranges::find(block.ops, name, &layers::Op::name);
}

bool any_eager(const layers::Block& block) { return std::ranges::any_of(block.ops, &layers::Op::eager); }

}  // namespace

/// Liger-Kernel benchmark/data/a100_all_benchmark_data.csv and h100_all_benchmark_data.csv, rms_norm, huggingface,
/// forward and backward, 2048 rows of 8192 in bf16, weight trained.
TEST_CASE("transformers' norm takes what was measured, within a tenth") {
  struct Measured {
    const char* gpu;
    double forward_ms;
    double backward_ms;
  };
  for (const auto& [gpu, forward_ms, backward_ms] :
       {Measured{"a100-80-pcie", 0.5233, 1.3763}, Measured{"h100-nvl", 0.3261, 0.8100}}) {
    INFO(gpu);
    const std::string words = " --framework hf --dtype bf16 --micro-batch 1 --hidden 8192 --heads 64";
    const test::Prices run(gpu, words);
    const test::Asked asked(std::string("--model llama-3-8b --seq 2048 --gpu ") + gpu + words);
    double forward = 0.0;
    double backward = quantity::in_seconds(run.kernels.eager_stream(quantity::bytes(3 * 4 * 2048 * 8192)));  // a sum
    for (std::size_t i = 0; i < 5; ++i) {
      const layers::Op& op = asked.program.blocks[1].ops[i];
      CHECK(op.eager);
      forward += quantity::in_seconds(run.kernels.eager_stream(op.moved_forward));
      backward += quantity::in_seconds(run.kernels.eager_stream(op.moved_backward));
    }
    CHECK(1e3 * forward == Approx(forward_ms).epsilon(0.10));
    CHECK(1e3 * backward == Approx(backward_ms).epsilon(0.10));
  }
}

/// Liger-Kernel benchmark/data/all_benchmark_data.csv of release 0.7.0, H100 SXM, tvd, torch, forward: difference,
/// absolute value, half and sum of 16384 rows of 131072 in fp32, 22.337 ms.
TEST_CASE("PyTorch's kernels on each element by itself are as fast as others, within a sixth") {
  const test::Prices run("h100-sxm", " --framework hf --dtype bf16");
  const std::int64_t moved = (12 + 8 + 8 + 4) * std::int64_t{16384} * 131072;
  CHECK(1e3 * quantity::in_seconds(run.kernels.stream(quantity::bytes(moved))) == Approx(22.337).epsilon(1.0 / 6.0));
  const test::Asked asked("--model llama-3-8b --seq 2048 --gpu h100-sxm --framework hf --dtype bf16");
  CHECK_FALSE(operation(asked.program.blocks[1], "gated product").eager);
}

/// Liger-Kernel benchmark/data/all_benchmark_data.csv of release 0.2.1, A100 SXM, cross_entropy, huggingface, forward,
/// 16384 rows of 65536 logits: 10.615 ms.
TEST_CASE("the log-softmax of wide rows takes what was measured, within a tenth") {
  const std::string words = " --framework hf --dtype bf16 --vocab 65536 --micro-batch 8";
  const test::Prices run("a100-80-sxm", words);
  const test::Asked asked("--model llama-3-8b --seq 2048 --gpu a100-80-sxm" + words);
  const auto moved = operation(asked.program.blocks.back(), "log-softmax").moved_forward;
  CHECK(1e3 * quantity::in_seconds(run.kernels.eager_stream(moved)) == Approx(10.615).epsilon(0.10));
}

TEST_CASE("what is compiled or fused runs in kernels made for it") {
  const std::string line = "--model llama-3-8b --seq 2048 --gpu h100-sxm --framework ";
  const auto layer_of = [&](const std::string& words) { return test::Asked(line + words).program.blocks[1]; };
  CHECK(any_eager(layer_of("hf")));
  CHECK_FALSE(any_eager(layer_of("hf --compile 1")));
  CHECK_FALSE(any_eager(layer_of("hf --fused-kernels 1")));
  CHECK_FALSE(any_eager(layer_of("megatron")));
  // torchtitan rotates complex numbers, which inductor leaves to PyTorch, and compiled no loss in 2024.
  const std::string titan = line + "torchtitan --compile 1";
  CHECK(operation(test::Asked(titan).program.blocks[1], "rotary embedding").eager);
  CHECK_FALSE(operation(test::Asked(titan).program.blocks[1], "mlp norm").eager);
  CHECK_FALSE(any_eager(test::Asked(titan).program.blocks.back()));
  CHECK(any_eager(test::Asked(titan + " --framework-version torch 2024-12-23").program.blocks.back()));
}

/// transformers activations.py, NewGELUActivation.forward: eight kernels, x cubed, both scalings, the sum, the tanh,
/// the two factors and their product: 6 x 2 + 2 x 3 passes. torch.amp lists pow among what it runs in fp32.
TEST_CASE("GPT-2's activation is a chain of eight kernels, wide behind the power under autocast") {
  const std::string line = "--model gpt2-xl --framework hf --seq 1024 --micro-batch 4 --gpu h100-sxm --dtype ";
  const auto chain = [](const layers::Block& block) {
    std::int64_t moved = 0;
    bool within = false;
    for (const layers::Op& op : block.ops) {
      if (op.name == "half") within = true;
      if (within) moved += quantity::in_bytes(op.moved_forward);
      if (op.name == "activated") return moved;
    }
    return moved;
  };
  constexpr std::int64_t elements = std::int64_t{4} * 1024 * 6400;
  CHECK(chain(test::Asked(line + "bf16").program.blocks[1]) == (6 * 2 + 2 * 3) * 2 * elements);
  const std::int64_t wide = 5 * 8 + (4 + 2 + 4) + (4 + 2 + 4);
  CHECK(chain(test::Asked(line + "mixed-bf16").program.blocks[1]) == (4 + 6 + wide) * elements);
}

/// pytorch aten/src/ATen/autocast_mode.cpp, cached_cast: an fp32 weight is read and its 16-bit copy written, and back
/// its gradient. Autocast leaves 16-bit weights as they are.
TEST_CASE("autocast narrows each wide weight in a kernel of its own") {
  const std::string line = "--model llama-3.2-1b --framework hf --seq 1024 --gpu h100-sxm --dtype ";
  constexpr std::int64_t elements = std::int64_t{2048} * (2 * 2048 + 2 * 512 + 3 * 8192);
  const auto casts = [&](const std::string& words) {
    std::int64_t moved = 0;
    const test::Asked asked(line + words);
    for (const layers::Op& op : asked.program.blocks[1].ops) {
      if (op.name == "weight (16 bit)") moved += quantity::in_bytes(op.moved_forward + op.moved_backward);
    }
    return moved;
  };
  CHECK(casts("mixed-bf16") == 2 * (4 + 2) * elements);
  CHECK(casts("mixed-bf16 --method lora") == (4 + 2) * elements);
  CHECK(casts("bf16") == 0);
}
