// DeepSpeed's engine: states by stage as its estimators count them, and its communication buffers.

#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;
using memory::Phase;
using quantity::in_bytes;

namespace {

constexpr double llama_parameters = 6'738'415'616;

test::Asked engine(std::string_view line, std::string_view framework = "deepspeed") {
  const std::string run = "--model llama-2-7b --seq 128 --dp 8 --framework ";
  return test::Asked(run + std::string(framework) + " " + std::string(line));
}

double per_parameter(quantity::Bytes size) { return static_cast<double>(in_bytes(size)) / llama_parameters; }

}  // namespace

TEST_CASE("stage 2 takes 2 + 18/d bytes a parameter (estimate_zero2_model_states_mem_needs)") {
  const auto asked = engine("--dtype fp16 --sharding zero2");
  const auto step = test::at(asked.walk(), Phase::optimizer);
  constexpr std::int64_t gather_bucket = 2 * 500'000'000;
  const auto states = step.weights + step.gradients + step.master + step.optimizer + step.temporaries;
  CHECK(per_parameter(states - quantity::bytes(gather_bucket)) == Approx(2 + 18.0 / 8).epsilon(1e-4));
}

TEST_CASE("stage 2 reduces gradients in a bucket of 5e8 elements, and keeps a share of them") {
  const auto zero1 = engine("--dtype fp16 --sharding zero1").walk();
  const auto zero2 = engine("--dtype fp16 --sharding zero2").walk();
  const auto& without = test::at(zero2, Phase::forward);
  const auto& with = test::at(zero2, Phase::backward);
  CHECK(in_bytes(with.workspace - without.workspace) == 2 * 500'000'000);
  CHECK(per_parameter(test::at(zero1, Phase::optimizer).gradients) == Approx(2));
  CHECK(per_parameter(test::at(zero2, Phase::optimizer).gradients) == Approx(2.0 / 8).epsilon(1e-4));
}

TEST_CASE("stage 3 takes 16/d between steps, and its bucket from the start") {
  const auto memory = engine("--dtype fp16 --sharding zero3").walk();
  const auto& p = memory.persistent;
  CHECK(per_parameter(p.weights + p.gradients + p.master + p.optimizer) == Approx(16.0 / 8).epsilon(1e-4));
  const auto plain = engine("--dtype fp16 --sharding none").walk();
  constexpr std::int64_t norms = 2 * 65 * 4096;  // below the persistence threshold of 1e5 elements
  CHECK(in_bytes(p.workspace - plain.persistent.workspace) == 2 * 500'000'000 + norms);
}

TEST_CASE("stage 3 fetches no more than 5e7 elements ahead of the running layer") {
  const auto temporaries = [](std::string_view framework) {
    const auto memory = engine("--dtype bf16 --sharding zero3 --grads bf16", framework).walk();
    return in_bytes(test::at(memory, Phase::forward).temporaries);
  };
  constexpr std::int64_t layer = 2 * 202'383'360;
  constexpr std::int64_t tables = 2 * 2 * 32000 * 4096;
  CHECK(temporaries("deepspeed") < layer + 2 * 50'000'000 + layer / 10);
  CHECK(temporaries("torch") > 2 * layer + tables);
}

// runtime/zero/config.py, sub_group_size = 1e9: gradients are widened to fp32 for so many parameters at once.
TEST_CASE("stage 3 steps a billion parameters at a time") {
  const auto temporaries = [](const std::string& ranks) {
    const std::string run = "--model llama-2-7b --seq 128 --framework deepspeed --dtype fp16 --sharding zero3 --dp ";
    return in_bytes(test::at(test::Asked(run + ranks).walk(), Phase::optimizer).temporaries);
  };
  CHECK(temporaries("2") == 4 * 1'000'000'000LL);
  CHECK(static_cast<double>(temporaries("8")) == Approx(4.0 * llama_parameters / 8).epsilon(1e-4));
}

TEST_CASE("BF16_Optimizer: 2 + 4 + 12/d, the fp32 gradients whole on every rank") {
  for (const std::string_view line : {"--dtype bf16 --sharding zero1 --grads fp32", "--dtype bf16 --sharding zero1"}) {
    const auto p = engine(line, "megatron-deepspeed").walk().persistent;
    CHECK(per_parameter(p.weights + p.gradients + p.master + p.optimizer) == Approx(2 + 4 + 12.0 / 8).epsilon(1e-4));
  }
  const auto grads = [](std::string_view line, std::string_view framework) {
    return engine(line, framework).question.training.precision.grads;
  };
  CHECK(grads("--dtype bf16 --sharding zero2", "megatron-deepspeed") == formats::Dtype::bf16);
  CHECK(grads("--dtype bf16 --sharding none", "megatron-deepspeed") == formats::Dtype::fp32);
  CHECK(grads("--dtype bf16", "megatron-deepspeed") == formats::Dtype::fp32);
  // runtime/engine.py, get_data_types, of 0.19.6: the model's type, whatever is sharded.
  CHECK(grads("--dtype bf16 --sharding none", "deepspeed") == formats::Dtype::bf16);
  CHECK(grads("--dtype bf16 --sharding zero2", "deepspeed") == formats::Dtype::bf16);
}

TEST_CASE(
    "an offloaded optimizer of stage 2 leaves the 16-bit weights only (ZeRO-Offload, arXiv:2101.06840 section 4)") {
  const auto memory = engine("--dtype fp16 --sharding zero2 --offload optimizer").walk();
  const auto& p = memory.persistent;
  CHECK(per_parameter(p.weights + p.gradients + p.master + p.optimizer) == Approx(2));
  CHECK(per_parameter(memory.host) == Approx(16.0 / 8).epsilon(1e-4));
  CHECK(in_bytes(test::at(memory, Phase::backward).gradients) == 0);
}

// deepspeed runtime/precision_config.py: 2 of weights, 2 of gradients, 2 of masters and 4 of moments.
TEST_CASE("bf16 masters, gradients and moments make ten bytes a parameter") {
  const test::Asked asked(
      "--model llama-3-8b --framework deepspeed --zero 1 --gpus 1 --grads bf16 --master-type bf16 --optimizer-states "
      "bf16");
  const auto states = asked.states();
  const auto all = states.weights + states.gradients + states.master + states.optimizer;
  CHECK(quantity::in_bytes(all) == 10 * asked.parameters());
  CHECK(states.gradient_copies == quantity::bytes(0));
}
