// Peaks of Megatron-LM's pipeline stages, with and without experts, against runs that SimuMax measured on 8 B200.

#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;
using quantity::in_bytes;
using quantity::mib;

namespace {

constexpr std::string_view recipe =
    "--framework megatron --weights bf16 --compute bf16 --grads fp32 --optimizer adamw --optimizer-impl fused "
    "--optimizer-states fp32 --seq 4096 --micro-batch 1 --grad-accum 4 --attention flash --loss te-fused --dropout 0 "
    "--sharding zero1 --gpu b200-sxm:8 --dp 4 --pp 2 ";

/// Four layers, the first of them dense; tokens fill each expert's capacity, so that all ranks have the same.
constexpr std::string_view deepseek =
    "--model deepseek-v2 --layers 4 --vocab 102400 --dense-layers 1 --ep 4 --etp 1 --moe-imbalance 1";
constexpr std::string_view llama = "--model llama-3-70b --layers 12 --vocab 128256";

/// MiB at the peak of a stage.
double peak_of(std::string_view model, std::int64_t stage) {
  auto q = test::question_of(std::string(recipe) + std::string(model));
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  const auto memory = memory::StepWalk(program, q, profile).walk(stage);
  return static_cast<double>(in_bytes(memory.peak().alive.total())) / static_cast<double>(in_bytes(mib(1)));
}

constexpr double within = 0.004;

}  // namespace

TEST_CASE("Megatron-LM's mixtures hold the rows that they send, receive and return until they are done") {
  CHECK(peak_of(deepseek, 0) == Approx(32343.43).epsilon(within));  // 960 MiB of such rows at its peak, forward
}

TEST_CASE("a stage has scratch gradients of its own layers' matrices") {
  CHECK(peak_of(deepseek, 1) == Approx(45775.80).epsilon(within));  // the dense layer of the other stage: 360 MiB
}

TEST_CASE("while micro-batches run, a stage holds no tensor twice for its neighbours") {
  CHECK(peak_of(llama, 0) == Approx(68149.20).epsilon(within / 2));  // 128 MiB between steps
  CHECK(peak_of(llama, 1) == Approx(64479.48).epsilon(within / 2));
}
