// Bytes of weights, gradients and optimizer states against papers and libraries.

#include "../program/questions.hpp"
#include "asked.hpp"
#include "catch.hpp"
#include "memory/step_walk.hpp"
#include "read/presets.hpp"

using namespace llmcalc;
using formats::Dtype;
using quantity::in_bytes;
using test::matrix;

namespace {

std::int64_t states_of(const layers::Weight& w, spec::Optimizer optimizer, Dtype moments = Dtype::fp32) {
  spec::Training t;
  t.optimizer = optimizer;
  t.precision.moments = moments;
  t.adapter.rank = 128;
  return in_bytes(program::optimizer_bytes(w, t));
}

spec::Precision mixed() {
  spec::Precision p;
  p.grads = Dtype::bf16;
  p.master = true;
  return p;
}

/// States of ZeRO's example: P parameters in mixed precision on d ranks, in GB.
double zero_gigabytes(double parameters, spec::Sharding kind, std::int64_t ranks) {
  spec::Training t;
  t.precision = mixed();
  spec::Layout layout;
  layout.gpus = layout.dp = ranks;
  layout.sharding = kind;
  layers::Weight w;
  w.elements = w.whole = static_cast<std::int64_t>(parameters);
  const auto states = program::weight_states(w, t, program::StateSharding(layout));
  return static_cast<double>(in_bytes(states.weights + states.master + states.gradients + states.optimizer)) / 1e9;
}

std::int64_t bytes_per_parameter(const spec::Precision& precision) {
  spec::Training t;
  t.precision = precision;
  layers::Weight w;
  w.elements = 1'000'000;
  w.dtype = precision.weights;
  const auto states = program::weight_states(w, t, {});
  return in_bytes(states.weights + states.master + states.gradients + states.optimizer) / 1'000'000;
}

}  // namespace

TEST_CASE("recipes take 16, 12, 18 and 20 bytes a parameter") {
  CHECK(bytes_per_parameter({Dtype::fp32, Dtype::fp32, Dtype::fp32, false, false, Dtype::fp32, false, Dtype::fp32}) ==
        16);
  CHECK(bytes_per_parameter({Dtype::bf16, Dtype::bf16, Dtype::bf16, false, false, Dtype::fp32, false, Dtype::fp32}) ==
        12);
  CHECK(bytes_per_parameter({Dtype::bf16, Dtype::bf16, Dtype::fp32, false, true, Dtype::fp32, false, Dtype::fp32}) ==
        18);
  CHECK(bytes_per_parameter({Dtype::fp16, Dtype::fp16, Dtype::fp16, true, true, Dtype::fp32, false, Dtype::fp32}) ==
        20);
  CHECK(bytes_per_parameter({Dtype::bf16, Dtype::bf16, Dtype::bf16, false, false, Dtype::fp32, false, Dtype::bf16}) ==
        8);
}

TEST_CASE("ZeRO stages on 64 ranks: 120, 31.4, 16.6 and 1.9 GB for 7.5B (Rajbhandari et al. 2020, figure 1)") {
  CHECK(zero_gigabytes(7.5e9, spec::Sharding::ddp, 64) == Approx(120).margin(0.05));
  CHECK(zero_gigabytes(7.5e9, spec::Sharding::zero1, 64) == Approx(31.4).margin(0.05));
  CHECK(zero_gigabytes(7.5e9, spec::Sharding::zero2, 64) == Approx(16.6).margin(0.05));
  CHECK(zero_gigabytes(7.5e9, spec::Sharding::zero3, 64) == Approx(1.9).margin(0.05));
}

TEST_CASE("ZeRO table 1: one row a model size at 1,024 ranks, and 128B at 16") {
  CHECK(zero_gigabytes(7.5e9, spec::Sharding::zero1, 1024) == Approx(30.1).margin(0.05));
  CHECK(zero_gigabytes(128e9, spec::Sharding::zero2, 1024) == Approx(257.75).margin(0.01));
  CHECK(zero_gigabytes(1e12, spec::Sharding::zero3, 1024) == Approx(15.6).margin(0.05));
  CHECK(zero_gigabytes(128e9, spec::Sharding::zero1, 16) == Approx(608).margin(0.01));
}

TEST_CASE("8-bit AdamW of bitsandbytes: 34,078,720 bytes for a 4096 matrix, fp32 below 4,096 elements") {
  CHECK(states_of(matrix(4096, 4096), spec::Optimizer::adamw_8bit) == 34'078'720);
  CHECK(states_of(matrix(1, 4095), spec::Optimizer::adamw_8bit) == 32'760);
}

TEST_CASE("other optimizers keep what their papers say") {
  const auto w = matrix(1024, 4096);
  const std::int64_t n = 1024 * 4096;
  CHECK(states_of(w, spec::Optimizer::adamw) == 8 * n);
  CHECK(states_of(w, spec::Optimizer::adamw, Dtype::bf16) == 4 * n);
  CHECK(states_of(w, spec::Optimizer::lion) == 4 * n);
  CHECK(states_of(w, spec::Optimizer::sgd) == 0);
  CHECK(states_of(w, spec::Optimizer::sgd_momentum) == 4 * n);
  CHECK(states_of(w, spec::Optimizer::adafactor) == 4 * (1024 + 4096));
  CHECK(states_of(w, spec::Optimizer::muon) == 4 * n);
  CHECK(states_of(w, spec::Optimizer::adamw_4bit) == 2 * (n / 2 + 4 * n / 128));
}

TEST_CASE(
    "8- and 4-bit AdamW on Llama 2 7B: 6.03 and 5.06 bytes a parameter (torchao README: 39.3 and 33.2 GB less 1.4 of "
    "activations)") {
  const auto q = test::ask(read::Catalogue().model("llama-2-7b", "test").shape, 128, 1);
  const auto program = test::program_of(q);
  const auto total_gib = [&](spec::Optimizer optimizer) {
    spec::Training t;
    t.optimizer = optimizer;
    std::int64_t sum = 0;
    for (const auto index : program.sequence) {
      const auto s = program::block_states(program.blocks[index], t, {});
      sum += in_bytes(s.weights + s.gradients + s.optimizer);
    }
    return static_cast<double>(sum) / static_cast<double>(quantity::gibi);
  };
  CHECK(total_gib(spec::Optimizer::adamw_8bit) == Approx(39.3 - 1.4).margin(0.3));
  CHECK(total_gib(spec::Optimizer::adamw_4bit) == Approx(33.2 - 1.4).margin(0.3));
}

TEST_CASE(
    "QLoRA: NF4 with double quantization takes 4.127 bits a parameter and saves 3 GB at 65B (Dettmers et al. 2023)") {
  const double bits = quantity::in_bits_per_element(formats::average_bits(Dtype::nf4_dq));
  CHECK(bits == Approx(4.127).margin(0.0005));
  const double saved = (quantity::in_bits_per_element(formats::average_bits(Dtype::nf4)) - bits) * 65e9 / 8 / 1e9;
  CHECK(saved == Approx(3.0).margin(0.05));
}

/// Megatron-LM core/parallel_state.py: 8 expert replicas in 2 optimizer instances are sharded over 4, whatever the 16
/// data-parallel ranks of an instance.
TEST_CASE("experts have as many optimizer instances as all else") {
  const test::Asked asked(
      "--model mixtral-8x7b --framework megatron --tp 1 --ep 4 --gpus 32 --sharding zero1 --sharding-group 16");
  const program::StateSharding sharding(asked.question.layout);
  CHECK(sharding.of(layers::Split::replicated).optimizer == 16);
  CHECK(sharding.of(layers::Split::expert).optimizer == 4);
}

/// training/arguments.py: expert_tensor_parallel_size is tensor_model_parallel_size unless it is given.
TEST_CASE("Megatron-LM cuts experts over the tensor-parallel ranks unless told otherwise") {
  const std::string line = "--model mixtral-8x7b --gpus 8 --tp 4 --framework ";
  CHECK(test::question_of(line + "megatron").layout.etp == 4);
  CHECK(test::question_of(line + "megatron --etp 1").layout.etp == 1);
  CHECK(test::question_of(line + "megatron-bridge").layout.etp == 1);
}
