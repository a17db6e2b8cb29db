// Kernels that PyTorch brings, against what others measured of them.

#include "catch.hpp"
#include "timing/kernel_prices.hpp"

using namespace llmcalc;

namespace {

const program::Op& operation(const program::Block& block, std::string_view name) {
  return *std::ranges::find(block.ops, name, &program::Op::name);
}

bool any_eager(const program::Block& block) { return std::ranges::any_of(block.ops, &program::Op::eager); }

}  // namespace

/// Liger-Kernel benchmark/data/a100_all_benchmark_data.csv and h100_all_benchmark_data.csv, rms_norm, huggingface,
/// forward, 2048 rows of 8192: transformers casts up, squares, takes the mean, scales, casts down and weighs.
TEST_CASE("a chain of PyTorch's kernels takes what was measured, within 5 %") {
  struct Measured {
    const char* gpu;
    double milliseconds;
  };
  for (const auto& [gpu, milliseconds] : {Measured{"a100-80-pcie", 0.5233}, Measured{"h100-nvl", 0.3261}}) {
    INFO(gpu);
    const test::Prices run(gpu, " --framework hf --dtype bf16");
    double sum = 0.0;
    for (const std::int64_t moved : {2 + 4, 4 + 4, 4, 4 + 4, 4 + 2, 2 + 2}) {
      sum += quantity::in_seconds(run.kernels.eager_stream(quantity::bytes(moved * 2048 * 8192)));
    }
    CHECK(1e3 * sum == Approx(milliseconds).epsilon(0.05));
  }
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
