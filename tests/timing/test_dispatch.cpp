#include "catch.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/steps.hpp"

using namespace llmcalc;
using test::Prices;

namespace {

double milliseconds(const Prices& prices, const layers::Op& op, bool backward) {
  return 1e3 * quantity::in_seconds(prices.kernels.host().dispatch(op, backward));
}

}  // namespace

// Calculon, a100_80g.json: 0.9 of the bandwidth from 100 MB on; AIConfigurator: 0.8 of it and 3 us.
TEST_CASE("kernels that move bytes approach the bandwidth") {
  const Prices a100("a100-80-sxm");
  const auto share = [&](std::int64_t bytes) {
    return static_cast<double>(bytes) / 2.039e12 / quantity::in_seconds(a100.kernels.stream(quantity::bytes(bytes)));
  };
  CHECK(share(1'000'000'000) == Approx(0.8).epsilon(0.02));
  CHECK(share(10'000'000) < 0.75);
  CHECK(share(100'000) < 0.05);
}

// vTrain's 1440 single-node runs with Megatron-DeepSpeed: the host needs at least 1.0 ms forward and 1.2 ms backward
// for a GPT layer. gpt-fast without compilation: 25.5 tokens/s through 32 layers of Llama 7B.
TEST_CASE("the host needs a millisecond for an eager layer") {
  layers::Op product;
  product.product = {1024, 1024, 1024};
  const layers::Op other;
  const auto layer = [&](const Prices& prices, int products, int others, bool backward) {
    return products * milliseconds(prices, product, backward) + others * milliseconds(prices, other, backward);
  };
  const Prices megatron("a100-80-sxm");
  CHECK(layer(megatron, 6, 10, false) == Approx(1.0).epsilon(0.05));
  CHECK(layer(megatron, 6, 10, true) == Approx(1.2).epsilon(0.05));
  const Prices plain("a100-80-sxm", " --framework hf --dtype bf16");
  CHECK(layer(plain, 8, 14, false) == Approx(1e3 / 25.5 / 32).epsilon(0.10));
  const Prices compiled("a100-80-sxm", " --framework hf --dtype bf16 --compile 1");
  CHECK(layer(compiled, 8, 14, false) < 0.5 * layer(plain, 8, 14, false));
}

// SimuMax, group_matmul on B200: 80 experts of 308 rows, 5120 by 1536, take 9.2 us each forward and 8.6 backward, 160
// of 154 rows as much each.
TEST_CASE("experts are launched one by one, heads together") {
  const Prices b200("b200-sxm");
  layers::Op experts{.kind = layers::OpKind::linear};
  experts.product = {308, 5120, 1536, 80};
  experts.kernels = 80;
  layers::Op more = experts;
  more.kernels = 160;
  CHECK(milliseconds(b200, more, false) - milliseconds(b200, experts, false) == Approx(80 * 9.2e-3).epsilon(0.10));
  layers::Op heads = experts;
  heads.kind = layers::OpKind::scores;
  heads.kernels = 1;
  CHECK(milliseconds(b200, heads, false) < 0.2 * milliseconds(b200, experts, false));
}

// peft tuners/lora/layer.py: the way back of a frozen matrix makes the gradient of its input alone.
TEST_CASE("frozen experts hand over one product a matrix on the way back, others two") {
  const Prices plain("a100-80-sxm", " --framework hf --dtype bf16");
  layers::Op experts{.kind = layers::OpKind::linear};
  experts.product = {64, 512, 512, 8};
  experts.eager = true;
  experts.kernels = experts.kernels_backward = 8;
  layers::Op one = experts;
  one.kernels_backward = 1;
  layers::Op trained = experts;
  trained.backward_weight = quantity::flops(1);
  layers::Op one_trained = one;
  one_trained.backward_weight = quantity::flops(1);
  const double frozen = milliseconds(plain, experts, true) - milliseconds(plain, one, true);
  const double both = milliseconds(plain, trained, true) - milliseconds(plain, one_trained, true);
  CHECK(frozen > 0.0);
  CHECK(both == Approx(2.0 * frozen));
}

// A second of work behind two of dispatch: one of waiting. At a third of the pace it is six, of which one is hidden.
TEST_CASE("a slower host lengthens a step by what it paces") {
  timing::StepTime step;
  step.forward.products = quantity::seconds(1);
  step.forward.host = quantity::seconds(1);
  step.forward.dispatch = quantity::seconds(2);
  CHECK(step.growth_on_slower_host(1.0, false) == 0.0);
  CHECK(step.growth_on_slower_host(3.0, false) == Approx(2.0));
  step.optimizer = quantity::seconds(2);
  CHECK(step.growth_on_slower_host(3.0, false) == Approx(1.0));
  step.bubble = quantity::seconds(2);
  CHECK(step.growth_on_slower_host(3.0, false) == Approx(4.0 * 2.0 / 6.0));
  step.forward.host = step.forward.dispatch;  // as CUDA_LAUNCH_BLOCKING=1 has it
  CHECK(step.growth_on_slower_host(2.0, true) == Approx(2.0 / 3.0 * 5.0 / 7.0));
}

// tests/measured/time/h100-trainers.csv: up to 1.6 times what is said with 0.5B, 0.8 to 1.2 times with 8B.
TEST_CASE("a slow host matters to half a billion parameters and not to eight") {
  const std::string rest = " --framework hf --dtype bf16 --gpu h100-sxm --method lora --seq 1024 --micro-batch ";
  CHECK(test::step_of("--model qwen2.5-0.5b" + rest + "2").growth_on_slower_host(3.0, false) > 0.5);
  CHECK(test::step_of("--model llama-3.1-8b" + rest + "8").growth_on_slower_host(3.0, false) < 0.01);
  const std::string graph = "--model qwen2.5-0.5b --framework megatron --dtype bf16 --gpu h100-sxm --cuda-graph full";
  CHECK(test::step_of(graph + " --seq 1k --micro-batch 1").growth_on_slower_host(2.5, false) == 0.0);
}
