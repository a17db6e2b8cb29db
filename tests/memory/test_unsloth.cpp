// What unsloth's kernels keep and overwrite, from kernels/fast_lora.py, and axolotl's after them.
#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;
using quantity::in_bytes;
using test::Asked;

namespace {

constexpr std::int64_t tokens = 8192, hidden = 4096, ffn = 14336;
const std::string qlora =
    "--model llama-3.1-8b --framework unsloth --method qlora --lora-targets all-linear --seq 8k --micro-batch 1 ";

memory::BlockWalk layer(const std::string& words) {
  return memory::walk_block(Asked(qlora + words).program.blocks[1], {});
}

}  // namespace

// LoRA_MLP saves X, e and g; X is what LoRA_QKV saves of the attention.
TEST_CASE("a layer keeps two rows of the MLP's width, and no activation between them") {
  const auto kept = in_bytes(layer("--recompute none --offload none").kept);
  const auto of_mlp = 2 * 2 * ffn * tokens;
  const auto rest = kept - of_mlp;  // both norms' inputs and results, q, k, v, attention's result and its statistics
  CHECK(rest < 7 * 2 * hidden * tokens);
  CHECK(rest > 5 * 2 * hidden * tokens);
}

// DW, e and g become h, df and de.
TEST_CASE("the backward pass of the MLP has three tensors of its width, where autograd's has six") {
  const auto in_place = in_bytes(layer("").backward_peak);
  const auto apart = in_bytes(layer("--lora-dropout 0.1").backward_peak);
  const auto of_width = 2 * ffn * tokens;
  CHECK(in_place < 3 * of_width + 13 * 2 * hidden * tokens);
  CHECK(apart - in_place >= 2 * of_width);
}

// axolotl pull request 3800, largest torch.cuda.max_memory_allocated of LoRA with its kernels, rank 16: Qwen3 0.6B at
// 32,768 tokens 4.70 GiB and at 131,072 15.08, Llama 3.2 1B 6.90 and 20.26, Qwen3 4B at 32,768 17.04 and at
// 65,536 26.24. axolotl 0.19.0 utils/schemas/config.py, check_auto_enable_lora_kernels, takes them unasked. Releases
// before 0.18.0 made a tensor of what the adapters add (kernels/lora.py, matmul_lora).
TEST_CASE("axolotl's own kernels for adapters hold no more of a token than they were measured to") {
  const auto peak = [](const std::string& model, const char* seq, const std::string& release = {}) {
    const std::string words =
        " --framework axolotl --method lora --lora-rank 16 --lora-targets all-linear"
        " --micro-batch 1 --recompute full --attention flash --fused-kernels 1"
        " --loss fused-linear --gpu rtx-5090 --seq ";
    return static_cast<double>(
               in_bytes(Asked("--model " + model + words + seq + release).walk().peak().alive.total())) /
           1073741824.0;
  };
  CHECK(peak("qwen3-0.6b", "131072") - peak("qwen3-0.6b", "32768") == Approx(15.08 - 4.70).epsilon(0.005));
  CHECK(peak("llama-3.2-1b", "131072") - peak("llama-3.2-1b", "32768") == Approx(20.26 - 6.90).epsilon(0.005));
  CHECK(peak("qwen3-4b", "65536") - peak("qwen3-4b", "32768") == Approx(26.24 - 17.04).epsilon(0.01));
  const double before = peak("llama-3.2-1b", "65536", " --framework-version 'axolotl 0.17'");
  const double of_width = 2.0 * 8192 * 65536 / 1073741824.0;
  CHECK(before - peak("llama-3.2-1b", "65536", " --framework-version 'axolotl 0.18'") ==
        Approx(of_width).epsilon(0.01));
}

// unsloth-zoo fused_losses/fused_linear.py: tiles of 256 MiB.
TEST_CASE("the loss has a tile of fp32 logits at once") {
  const auto program = Asked(qlora).program;
  CHECK(program.blocks.back().ops.back().workspace_forward == quantity::mib(256));
}

// tests/measured/h100-trainers.csv, between steps: 128.1 MiB more than without where a checkpoint has 64 MiB, 256.3 MiB
// where it has 128.
TEST_CASE("two buffers of a checkpoint stay where checkpoints come back from the host") {
  const auto between = [](const std::string& words) {
    return in_bytes(Asked(qlora + words).walk().persistent.total());
  };
  const auto without = between("--recompute full --offload none");
  CHECK(between("--recompute full --offload activations") - without == 2 * 2 * hidden * tokens);
  CHECK(between("--recompute none --offload none") == without);
  const auto backward = [](const std::string& words) {
    const auto memory = Asked(qlora + words).walk();
    return test::at(memory, memory::Phase::backward);
  };
  CHECK(in_bytes(backward("--recompute full --offload activations").activations) < hidden * tokens);  // the batch
}
