// What torch.compile saves for the backward pass.

#include "asked.hpp"
#include "catch.hpp"

#include <string>
#include <vector>

using namespace llmcalc;

/// pytorch torch/_functorch/partitioners.py, should_ban_recomputation: what a product of the backward pass reads is
/// saved, here the 16-bit probabilities, and of what the softmax follows from the smallest, here the 16-bit scores with
/// two numbers a row. Autograd saves the fp32 result beside the probabilities (tools/autograd/derivatives.yaml).
TEST_CASE("compiled attention saves four bytes a score where operations by themselves save six") {
  const auto saved = [](const std::string& words) {
    const test::Asked run(
        "--model gpt2 --framework torch --dtype mixed-bf16 --seq 1024 --micro-batch 2 --attention eager" + words);
    const layers::Block& layer = run.program.blocks[1];
    constexpr std::int64_t scores = 2 * 12 * 1024 * 1024;
    std::vector<bool> seen(layer.tensors.size(), false);
    std::int64_t sum = 0;
    for (const layers::Op& op : layer.ops) {
      for (const layers::TensorId id : op.saved) {
        if (!seen[id] && layer.tensors[id].size >= quantity::bytes(scores))
          sum += quantity::in_bytes(layer.tensors[id].size);
        seen[id] = true;
      }
    }
    return sum / std::int64_t{2 * 12 * 1024 * 1024};
  };
  CHECK(saved(" --dropout 0") == 6);
  CHECK(saved(" --dropout 0.1") == 7);
  CHECK(saved(" --dropout 0 --compile 1") == 4);
  CHECK(saved(" --dropout 0.1 --compile 1") == 5);
}
