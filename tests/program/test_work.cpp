// FLOPs of published models against the closed forms and the printed numbers of their papers.

#include "catch.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <map>
#include <string_view>

using namespace llmcalc;
using quantity::in_flops;

namespace {

struct Sizes {
  double s, b, h, a, layers, v;
};

/// Korthikanti et al. 2022, table 3; vocabulary 51,200 as Megatron pads it for 8-way tensor parallelism.
constexpr Sizes model_22b{2048, 4, 6144, 64, 48, 51200};
constexpr Sizes model_1t{2048, 1, 25600, 160, 128, 51200};

program::Work work_of(const Sizes& m, spec::RecomputePolicy policy) {
  auto q = test::ask(test::gpt_shape(static_cast<std::int64_t>(m.layers), static_cast<std::int64_t>(m.h),
                                     static_cast<std::int64_t>(m.a), static_cast<std::int64_t>(m.v), 2048),
                     2048, static_cast<std::int64_t>(m.b));
  q.training.attention = spec::AttentionKernel::eager;
  q.training.recompute.policy = policy;
  return program::count_work(test::program_of(q));
}

double sequence_work(const Sizes& m) { return 72 * m.b * m.layers * m.s * m.h * m.h; }

program::Work preset_work(const char* name, std::int64_t seq) {
  return program::count_work(test::program_of(test::ask(read::Catalogue().model(name, "test").shape, seq, 1)));
}

}  // namespace

/// torch.utils.flop_counter, conv_flop_count: twice the kernel for each channel and position.
TEST_CASE("a causal convolution multiplies each of its weights for each token") {
  constexpr std::int64_t tokens = 512;
  const auto run = test::program_of(test::ask(read::Catalogue().model("granite-4.0-h-micro", "test").shape, tokens, 1));
  int convolutions = 0;
  for (const auto& block : run.blocks) {
    for (const auto& op : block.ops) {
      if (op.kind != layers::OpKind::convolution) continue;
      CHECK(in_flops(op.forward) == 2.0 * tokens * static_cast<double>(block.weights[op.weight].elements));
      ++convolutions;
    }
  }
  CHECK(convolutions > 0);
}

/// transformers modeling_minimax.py, MiniMaxLightningAttention.forward: a loop over blocks of `block_size`, each of
/// which multiplies all of its queries by all of its keys, and all of its keys by its values.
TEST_CASE("lightning attention multiplies each query by the keys of its block, however long the last one is") {
  const auto shape = read::Catalogue().model("minimax-text-01", "test").shape;
  constexpr std::int64_t block = 256;
  for (const std::int64_t tokens : {1, 100, 255, 256, 257, 300, 512, 700}) {
    std::int64_t pairs = 0;
    for (std::int64_t i = 0; i < tokens; ++i) pairs += std::min(tokens, (i / block + 1) * block) - i / block * block;
    const double width = static_cast<double>(shape.heads * shape.head_dim);
    auto question = test::ask(shape, tokens, 1);
    question.training.framework = spec::Framework::hf;
    const auto run = test::program_of(question);
    std::map<std::string_view, double> found;
    for (const auto& block_of_run : run.blocks) {
      for (const auto& op : block_of_run.ops) found[op.name] = in_flops(op.forward);
    }
    CAPTURE(tokens);
    CHECK(found.at("block scores") == 2.0 * width * static_cast<double>(pairs));
    CHECK(found.at("within blocks") == 2.0 * width * static_cast<double>(pairs));
    const double states = 2.0 * width * static_cast<double>(tokens * shape.head_dim);
    CHECK(found.at("states of blocks") == states);
    CHECK(found.at("between blocks") == states);
  }
}

/// Megatron-LM megatron/training/training.py, num_floating_point_operations: of each value head's state of d_k x d_v a
/// token makes four multiply-adds. (Yang et al. 2024, arXiv:2412.06464 eq. 10: S k, its difference to v by k, the decay
/// and S q.)
TEST_CASE("a delta rule multiplies each element of its state four times a token, whoever has one") {
  constexpr std::int64_t tokens = 256;
  int models = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const spec::LinearAttentionShape& n = preset.shape.linear;
    if (n.value_heads == 0) continue;
    CAPTURE(preset.id);
    const auto run = test::program_of(test::ask(preset.shape, tokens, 1));
    int rules = 0;
    for (const auto& block : run.blocks) {
      for (const auto& op : block.ops) {
        if (op.kind != layers::OpKind::recurrence || in_flops(op.forward) == 0) continue;
        CHECK(in_flops(op.forward) ==
              2.0 * 4.0 * static_cast<double>(tokens * n.value_heads * n.key_dim * n.value_dim));
        CHECK(op.backward_input == 2.0 * op.forward);
        ++rules;
      }
    }
    CHECK(rules > 0);
    ++models;
  }
  CHECK(models > 3);
}

TEST_CASE("without a backward pass there are forward FLOPs alone") {
  for (const auto kernel : {spec::AttentionKernel::flash, spec::AttentionKernel::eager}) {
    for (const auto method : {spec::Method::forward_only, spec::Method::inference}) {
      auto q = test::ask(read::Catalogue().model("llama-3-8b", "test").shape, 4096, 1);
      q.training.method = method;
      q.training.attention = kernel;
      const program::Work work = program::count_work(test::program_of(q));
      CHECK(in_flops(work.forward) > 0);
      CHECK(in_flops(work.backward) == 0);
      CHECK(in_flops(work.kernel_recompute) == 0);
    }
  }
}

TEST_CASE("model FLOPs are 72BLsh^2(1 + s/6h + V/12hL) (Korthikanti et al. 2022, eq. 7)") {
  for (const auto& m : {model_22b, model_1t}) {
    const double expected = sequence_work(m) * (1 + m.s / (6 * m.h) + m.v / (12 * m.h * m.layers));
    CHECK(in_flops(work_of(m, spec::RecomputePolicy::none).full_square()) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("selective recomputation adds the two attention products once more (eq. 8)") {
  for (const auto& m : {model_22b, model_1t}) {
    const auto work = work_of(m, spec::RecomputePolicy::selective);
    const double half_square_again = 4 * m.b * m.s * m.s * m.h * m.layers * (m.s + 1) / (2 * m.s);
    CHECK(in_flops(work.recompute) == Approx(half_square_again).epsilon(1e-12));
  }
}

TEST_CASE("full recomputation repeats the layers' forward work and not the head's") {
  const auto work = work_of(model_22b, spec::RecomputePolicy::full);
  const Sizes& m = model_22b;
  CHECK(in_flops(work.forward - work.recompute) == Approx(2 * m.b * m.s * m.h * m.v).epsilon(1e-12));
}

TEST_CASE(
    "checkpoints without reentrance leave out a layer's last product (counted on the Llama of transformers 5.23)") {
  // FlopCounterMode over a step of 4 layers of 256 with 1,024 inside and 128 tokens: 4,697,620,480 with reentrance.
  constexpr double reentrant = 4697620480.0, non_reentrant = 4429185024.0;
  auto shape = test::llama2_7b_shape();
  shape.layers = 4, shape.hidden = 256, shape.ffn = 1024, shape.heads = shape.kv_heads = 4, shape.head_dim = 64;
  auto q = test::ask(shape, 128, 1);
  q.training.recompute.policy = spec::RecomputePolicy::full;
  const auto again = [&](spec::Framework framework, spec::Date date) {
    q.training.framework = framework;
    q.training.software.date = date;
    return in_flops(program::count_work(test::program_of(q)).recompute);
  };
  const double whole = again(spec::Framework::megatron, {2026, 10, 0});
  for (const auto framework : {spec::Framework::hf, spec::Framework::torchtune, spec::Framework::litgpt,
                               spec::Framework::composer, spec::Framework::maxtext}) {
    CHECK(whole - again(framework, {2026, 10, 0}) == reentrant - non_reentrant);
  }
  CHECK(again(spec::Framework::hf, {2025, 10, 0}) == whole);
  CHECK(again(spec::Framework::llama_factory, {2026, 10, 0}) == whole);
  CHECK(again(spec::Framework::composer, {2023, 5, 0}) == whole);
}

TEST_CASE("torchtitan's layers run again whole since August 2025, unless they are compiled") {
  auto q = test::ask(test::llama2_7b_shape(), 1024, 1);
  q.training.recompute.policy = spec::RecomputePolicy::full;
  q.training.framework = spec::Framework::torchtitan;
  const auto again = [&](spec::Date date, bool compiled) {
    q.training.software.date = date;
    q.training.compile = compiled;
    return in_flops(program::count_work(test::program_of(q)).recompute);
  };
  const double last_product = 2.0 * 1024 * 4096 * 11008 * 32;
  CHECK(again({2025, 9, 0}, false) - again({2025, 6, 0}, false) == last_product);
  CHECK(again({2025, 9, 0}, true) == again({2025, 6, 0}, false));
}

TEST_CASE("printed MFU of Korthikanti et al. 2022, table 5, follows from the FLOPs") {
  // 22B: batch 4 on 8 A100 in 1.10 s, 41.5 %; 1T: batch 512 on 512 A100 in 71.49 s, 56.3 %.
  const double peak = 312e12;
  const double mfu_22b = in_flops(work_of(model_22b, spec::RecomputePolicy::none).full_square()) / (8 * peak * 1.10);
  CHECK(100 * mfu_22b == Approx(41.5).margin(0.3));
  const double mfu_1t =
      512 * in_flops(work_of(model_1t, spec::RecomputePolicy::none).full_square()) / (512 * peak * 71.49);
  CHECK(100 * mfu_1t == Approx(56.3).margin(0.3));
}

TEST_CASE("GPT-3: 6PD over 300B tokens is 3.14e23 FLOP or 3640 PFLOP-days (Brown et al. 2020, table D.1)") {
  const auto q = test::ask(read::Catalogue().model("gpt3-175b", "test").shape, 2048, 1);
  const auto parameters = static_cast<double>(program::count_parameters(test::program_of(q)).total);
  CHECK(parameters == 174'604'259'328.0);
  CHECK(6 * parameters * 300e9 == Approx(3.14e23).epsilon(0.002));
  CHECK(quantity::in_pflop_days(quantity::flops(6 * parameters * 300e9)) == Approx(3640).epsilon(0.002));
}

TEST_CASE("Llama 3 405B at 8,192 tokens: 2.524e12 FLOP a token with causal attention, 4 % more without the mask") {
  const auto work = preset_work("llama-3.1-405b", 8192);
  CHECK(in_flops(work.model()) / 8192 == Approx(2.524e12).epsilon(0.001));
  CHECK(in_flops(work.full_square()) / in_flops(work.model()) == Approx(2.625 / 2.524).epsilon(0.001));
}

TEST_CASE("a causal kernel does exactly (s+1)/2s of the square") {
  const auto work = preset_work("llama-3-8b", 1000);
  const double square = 2.0 * 1000 * 1000 * 2 * 4096 * 32;
  CHECK(in_flops(work.masked) == Approx(square * (1 - 1001.0 / 2000.0)).epsilon(1e-9));
}

TEST_CASE("a window of w positions leaves (w/s)(1 - (w-1)/2s) of the square") {
  auto shape = read::Catalogue().model("llama-3-8b", "test").shape;
  shape.window.window = 100;
  const auto work = program::count_work(test::program_of(test::ask(shape, 1000, 1)));
  const double square = 2.0 * 1000 * 1000 * 2 * 4096 * 32;
  // Pairs counted one by one: position i sees min(i + 1, 100) positions.
  const double pairs = 100 * 101 / 2.0 + 900 * 100.0;
  CHECK(in_flops(work.masked) == Approx(square * (1 - pairs / 1e6)).epsilon(1e-9));
}
