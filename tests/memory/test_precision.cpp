// Bytes a parameter of mixed-precision recipes against the frameworks' documents, and what narrow products keep.

#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

using namespace llmcalc;
using memory::Phase;
using quantity::in_bytes;

namespace {

const std::string run = "--model llama-2-7b --seq 4096 --framework megatron --gpu h100-sxm ";

double per_parameter(quantity::Bytes size, const test::Asked& asked) {
  return static_cast<double>(in_bytes(size)) / static_cast<double>(asked.parameters());
}

double state_bytes(std::string_view line) {
  const test::Asked asked(run + std::string(line));
  const auto s = asked.states();
  return per_parameter(s.weights + s.master + s.gradients + s.optimizer, asked);
}

/// Of a rank that holds the share of layers' matrices only: tables, norms and head stay in 16 bit.
double layer_weight_bytes(std::string_view line) {
  const test::Asked asked(run + std::string(line));
  const auto& layer = asked.program.blocks[1];
  for (const auto& w : layer.weights) {
    if (w.rows <= 1) continue;
    const auto s = program::weight_states(w, asked.question.training, program::StateSharding(asked.question.layout));
    return static_cast<double>(in_bytes(s.weights)) / static_cast<double>(w.elements);
  }
  return 0.0;
}

}  // namespace

TEST_CASE("Megatron: 18 bytes in bf16, 20 in fp16, 16 in fp32 (docs/user-guide/features/dist_optimizer.md)") {
  CHECK(state_bytes("--dtype bf16") == Approx(18));
  CHECK(state_bytes("--dtype fp16") == Approx(20));
  CHECK(state_bytes("--dtype fp32") == Approx(16));
}

TEST_CASE("gradients reduced in bf16: 2 + 2 + 4 + 8, and a shard of 4 bytes while the optimizer steps") {
  const std::string line = "--dtype bf16 --grads bf16 --dp 4 --sharding zero1";
  CHECK(state_bytes("--dtype bf16 --grads bf16") == Approx(16));
  const test::Asked asked(run + line);
  CHECK(per_parameter(test::at(asked.walk(), Phase::optimizer).temporaries, asked) == Approx(4.0 / 4).epsilon(1e-6));
  const test::Asked wide(run + "--dtype bf16 --dp 4 --sharding zero1");
  CHECK(in_bytes(test::at(wide.walk(), Phase::optimizer).temporaries) == 0);
}

TEST_CASE(
    "the precision-aware optimizer: 2 + 4 + 2 + 4 with bf16 moments, 2 + 2 + 2 + 2 with fp8 ones and bf16 gradients") {
  CHECK(state_bytes("--dtype bf16 --optimizer-states bf16") == Approx(12));
  CHECK(state_bytes("--dtype bf16 --grads bf16 --optimizer-states fp8") == Approx(8));
  const test::Asked asked(run + "--dtype bf16 --grads bf16 --optimizer-states fp8");
  CHECK(in_bytes(test::at(asked.walk(), Phase::optimizer).temporaries) == 0);
}

TEST_CASE("fp8 products: a copy of each bf16 weight, and its transpose on Hopper") {
  CHECK(layer_weight_bytes("--dtype bf16 --compute fp8") == Approx(2 + 1 + 1));
  const test::Asked blackwell("--model llama-2-7b --framework megatron --dtype bf16 --compute fp8 --gpu b200");
  CHECK(blackwell.program.blocks[1].weights[1].copies == 1);
}

TEST_CASE(
    "weights that rest narrow: fp8 1 + 1, mxfp8 2.0625 and nvfp4 1.125 bytes in both layouts (TransformerEngine)") {
  CHECK(layer_weight_bytes("--weights fp8") == Approx(2));
  CHECK(layer_weight_bytes("--weights mxfp8") == Approx(2.0625));
  CHECK(layer_weight_bytes("--weights nvfp4") == Approx(1.125).epsilon(1e-6));
  const test::Asked asked(run + "--weights mxfp8");
  CHECK(per_parameter(asked.states().master, asked) == Approx(4));
  CHECK(per_parameter(asked.states().gradients, asked) == Approx(4));
}

TEST_CASE("fp8 products keep one byte an input element instead of two") {
  const auto kept = [](std::string_view line) {
    const test::Asked asked(run + std::string(line));
    return in_bytes(memory::walk_block(asked.program.blocks[1], {}).kept);
  };
  // Inputs of the projections of a Llama 2 layer: 4096 for q,k,v, 4096 for o, 4096 for gate and up, 11008 for down. The
  // attention kernel keeps its output itself, so the narrow copy of that one comes on top.
  constexpr std::int64_t tokens = 4096;
  const auto narrow = tokens * (4096 + 4096 + 4096 + 11008);
  const auto wide = tokens * 2 * (4096 + 4096 + 11008);
  CHECK(kept("--dtype bf16 --compute fp8") == kept("--dtype bf16") - wide + narrow);
  CHECK(kept("--dtype bf16 --compute mxfp8") == kept("--dtype bf16") - wide + narrow * 33 / 32);
}

TEST_CASE("head and router multiply in 16 bit, and the textbook keeps 16-bit inputs") {
  const test::Asked asked(run + "--dtype bf16 --compute fp8");
  for (const auto& w : asked.program.blocks.back().weights) CHECK(w.copies == 0);
  const test::Asked textbook("--model llama-2-7b --dtype bf16 --compute fp8");
  for (const auto& w : textbook.program.blocks[1].weights) CHECK(w.copies == 0);
}

TEST_CASE("narrow weights can be trained, quantized ones cannot") {
  CHECK_NOTHROW(test::Asked(run + "--weights fp8"));
  CHECK_THROWS_AS(test::Asked(run + "--weights int8"), quantity::BadInput);
}
