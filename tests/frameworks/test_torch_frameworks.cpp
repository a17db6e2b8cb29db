// Bytes a token that a layer keeps, as each framework's source writes the layer.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "program/count.hpp"
#include "program/states.hpp"
#include "read/words/terms.hpp"

#include <array>
#include <string_view>

using namespace llmcalc;
using quantity::in_bytes;

namespace {

constexpr std::int64_t h = 4096, f = 11008, a = 32, vocab = 32000;
constexpr std::int64_t tokens = 1024;
constexpr double matrices = 4.0 * h * h + 3.0 * h * f;

spec::Question ask_llama2(spec::Framework framework, spec::Method method) {
  auto q = test::ask(test::llama2_7b_shape(), tokens, 1);
  q.training.framework = framework;
  q.training.method = method;
  q.training.attention = spec::AttentionKernel::sdpa;
  q.training.adapter.rank = 8;
  q.training.adapter.targets = {"q", "v"};
  return q;
}

memory::BlockWalk layer_of(const spec::Question& q) { return memory::walk_block(test::program_of(q).blocks[1], {}); }
std::int64_t kept_by_layer(const spec::Question& q) { return in_bytes(layer_of(q).kept); }

/// Two eager norms of frozen weights, the fused projection with rotated copies, attention, gate and up.
constexpr std::int64_t litgpt_frozen = 2 * (4 * h + 4) + 6 * h + 4 * h + 2 * h + 4 * a + 6 * f;

}  // namespace

TEST_CASE("a LoRA layer of litgpt keeps one dropped input and the padded result of q and v") {
  constexpr std::int64_t low_rank = 2 * 2 * 8;
  const auto q = ask_llama2(spec::Framework::litgpt, spec::Method::lora);
  CHECK(kept_by_layer(q) == (litgpt_frozen + (2 + 1) * h + low_rank + 2 * 2 * h) * tokens);
}

TEST_CASE("litgpt's LoRA on q and v of Llama 2 7B trains 4,194,304 parameters (its tutorial prints that number)") {
  const auto q = ask_llama2(spec::Framework::litgpt, spec::Method::lora);
  CHECK(program::count_parameters(test::program_of(q)).trainable == 4'194'304);
}

TEST_CASE("LLaMA-Adapter of Llama 2 7B trains 1,229,760 parameters in all layers but two (litgpt's tutorial)") {
  const auto q = ask_llama2(spec::Framework::litgpt, spec::Method::adapter);
  const auto program = test::program_of(q);
  CHECK(program::count_parameters(program).trainable == 1'229'760);
  CHECK(program::count_parameters(program).total == 6'738'415'616);
  CHECK(kept_by_layer(q) == (litgpt_frozen + 2 * h) * tokens);
  CHECK(in_bytes(memory::walk_block(program.blocks[program.sequence[2]], {}).kept) == 0);
}

TEST_CASE("4-bit products kept their input before bitsandbytes 0.43.2") {
  auto q = ask_llama2(spec::Framework::litgpt, spec::Method::adapter);
  q.training.precision.weights = formats::Dtype::nf4;
  CHECK(kept_by_layer(q) == (litgpt_frozen + 2 * h) * tokens);
  q.training.software = read::read_software("2023");
  CHECK(kept_by_layer(q) == (litgpt_frozen + 2 * h + 2 * h + 2 * h + 2 * h + 2 * f) * tokens);
}

TEST_CASE("torchtitan's selective recompute keeps attention and every second product: 10h + 2f + 4a bytes a token") {
  auto q = ask_llama2(spec::Framework::torchtitan, spec::Method::full);
  q.training.recompute.policy = spec::RecomputePolicy::selective;
  CHECK(kept_by_layer(q) == (10 * h + 2 * f + 4 * a) * tokens);
  const auto work = program::count_work(test::program_of(q));
  q.training.recompute.policy = spec::RecomputePolicy::full;
  const auto all = program::count_work(test::program_of(q));
  CHECK(quantity::in_flops(work.recompute) > 0.0);
  CHECK(quantity::in_flops(work.recompute) < 0.5 * quantity::in_flops(all.recompute));
}

TEST_CASE("llm-foundry's loss kernel keeps 16-bit logits and makes a 16-bit gradient") {
  const auto q = ask_llama2(spec::Framework::composer, spec::Method::full);
  const auto head = memory::walk_block(test::program_of(q).blocks.back(), {});
  constexpr double hidden_margin = 0.6;  // hidden states of the head, a quarter of a byte a logit each
  CHECK(static_cast<double>(in_bytes(head.backward_peak)) / (tokens * vocab) == Approx(4.0).margin(hidden_margin));
}

TEST_CASE("generation keeps keys and values only, and the last position's logits") {
  const auto q = ask_llama2(spec::Framework::hf, spec::Method::inference);
  CHECK(kept_by_layer(q) == 2 * 2 * h * tokens);
  const auto head = memory::walk_block(test::program_of(q).blocks.back(), {});
  CHECK(in_bytes(head.kept) == 0);
  CHECK(in_bytes(head.forward_peak) < 2 * vocab * tokens);
}

TEST_CASE("litgpt's GPT has an output head of its own where the checkpoint ties it to the table") {
  auto q = ask_llama2(spec::Framework::litgpt, spec::Method::lora);
  q.model = spec::build_model([] {
    auto shape = test::llama2_7b_shape();
    shape.tied = true;
    return shape;
  }());
  const auto is_shared = [](const program::Program& program) { return program.blocks.back().weights.back().shared; };
  CHECK_FALSE(is_shared(test::program_of(q)));
  q.training.framework = spec::Framework::hf;
  CHECK(is_shared(test::program_of(q)));
}

std::array<std::int64_t, 2> moved_by(std::string_view name, const spec::Question& q) {
  std::array<std::int64_t, 2> moved{};
  const auto program = test::program_of(q);
  for (const auto& op : program.blocks[1].ops) {
    if (op.name != name) continue;
    moved[0] += in_bytes(op.moved_forward);
    moved[1] += in_bytes(op.moved_backward);
  }
  return moved;
}

/// 4.127 bits are read and 16 written (Dettmers et al. 2023, arXiv:2305.14314 section 3); litgpt casts the result once
/// more.
TEST_CASE("each pass reads a 4-bit matrix and writes it in 16 bits before the product") {
  auto q = ask_llama2(spec::Framework::hf, spec::Method::qlora);
  q.training.precision.weights = formats::Dtype::nf4_dq;
  const auto [forward, backward] = moved_by("dequantization", q);
  CHECK(static_cast<double>(forward) == Approx(matrices * (4.127 / 8 + 2)).epsilon(1e-4));
  CHECK(backward == forward);
  CHECK(moved_by("copy", q)[0] == 2 * 2 * 2 * h * tokens);  // what q and v made, read and written (peft, bnb.py)
  q.training.framework = spec::Framework::litgpt;
  CHECK(static_cast<double>(moved_by("dequantization", q)[0]) == Approx(matrices * (4.127 / 8 + 2 + 4)).epsilon(1e-4));
  CHECK(moved_by("copy", q)[0] == 0);
  q.training.precision.weights = formats::Dtype::bf16;
  CHECK(moved_by("dequantization", q)[0] == 0);
}

/// Of the packed word 32 bits are written shifted, read again and narrowed to 8, which a mask, a subtraction and a
/// product with the scales each read and the first two write; autograd keeps the 16 bits that come out
/// (auto_gptq nn_modules/qlinear/qlinear_cuda_old.py, QuantLinear.forward with trainable=True).
TEST_CASE("trainable GPTQ layers unpack their codes in one kernel after another, once") {
  auto q = ask_llama2(spec::Framework::hf, spec::Method::qlora);
  q.training.precision.weights = formats::Dtype::int4_gptq;
  const auto [forward, backward] = moved_by("dequantization", q);
  CHECK(static_cast<double>(forward) == Approx(matrices * (4.15625 / 8 + 4 + 4 + 1 + 2 + 2 + 1 + 2)).epsilon(1e-4));
  CHECK(backward == 0);
  q.training.fused_kernels = true;
  CHECK(moved_by("dequantization", q)[1] > 0);
}

/// peft tuners/lora/layer.py, Linear.forward: x.to(lora_A.weight.dtype), of which autocast casts what the product reads
/// back to 16 bits (pytorch aten/src/ATen/autocast_mode.h, cached_cast), and result + lora_B(...) * scaling.
TEST_CASE("inputs of fp32 adapters go through fp32 and back beside fused kernels") {
  auto q = ask_llama2(spec::Framework::hf, spec::Method::lora);
  q.training.precision.grads = formats::Dtype::fp32;
  q.training.fused_kernels = true;
  q.training.adapter.dropout = 0.0;
  constexpr std::int64_t there_and_back = (2 + 4) + (4 + 2);
  const auto [forward, backward] = moved_by("adapter input (through fp32)", q);
  CHECK(forward == 2 * there_and_back * h * tokens);
  CHECK(backward == forward);
  CHECK(moved_by("adapter factor", q)[0] == 2 * 2 * 2 * h * tokens);
  q.training.precision.grads = formats::Dtype::bf16;
  CHECK(moved_by("adapter input (through fp32)", q)[0] == 0);
}

/// 4 bits, a byte for each 64 elements and 4 bytes for each 256 of those (Dettmers et al. 2023, arXiv:2305.14314
/// section 3), all of it spread over the ranks by torchao, the scales left whole by bitsandbytes.
TEST_CASE("torchtune quantizes NF4's scales again and shards them with the codes") {
  auto q = ask_llama2(spec::Framework::torchtune, spec::Method::qlora);
  q.training.precision.weights = formats::Dtype::nf4;
  q.layout.sharding = spec::Sharding::fsdp2;
  q.layout.dp = q.layout.gpus = 8;
  const auto gate = [&] {
    const auto program = test::program_of(q);
    for (const auto& w : program.blocks[1].weights) {
      if (w.name != "gate projection") continue;
      return in_bytes(program::weight_states(w, q.training, program::StateSharding(q.layout)).weights);
    }
    return std::int64_t{0};
  };
  constexpr std::int64_t n = h * f;
  CHECK(gate() == (n / 2 + n / 64 + n / 64 / 256 * 4) / 8);
  q.training.framework = spec::Framework::hf;
  CHECK(gate() == n / 2 / 8 + n / 64 * 4);
}
