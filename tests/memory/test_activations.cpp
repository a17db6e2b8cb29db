// Closed forms of published papers come out of the step program, to the byte.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "memory/step_walk.hpp"
#include "read/words/terms.hpp"

using namespace llmcalc;
using quantity::in_bytes;

namespace {

struct Sizes {
  std::int64_t s, b, h, a, layers;
};

// Korthikanti et al. 2022, table 3: 22B, 175B, 530B and 1T.
constexpr Sizes model_22b{2048, 4, 6144, 64, 48};
constexpr Sizes model_175b{2048, 1, 12288, 96, 96};
constexpr Sizes model_530b{2048, 1, 20480, 128, 105};
constexpr Sizes model_1t{2048, 1, 25600, 160, 128};

spec::Question gpt(const Sizes& m, spec::AttentionKernel kernel, spec::RecomputePolicy policy) {
  auto q = test::ask(test::gpt_shape(m.layers, m.h, m.a, 51200, m.s), m.s, m.b);
  q.training.attention = kernel;
  q.training.recompute.policy = policy;
  return q;
}

std::int64_t kept_by_layer(const spec::Question& q) {
  return in_bytes(memory::walk_block(test::program_of(q).blocks[1], {}).kept);
}

double gib_of_layers(const spec::Question& q) {
  return static_cast<double>(kept_by_layer(q) * q.model.layer_count()) / static_cast<double>(quantity::gibi);
}

constexpr auto eager = spec::AttentionKernel::eager;
constexpr auto flash = spec::AttentionKernel::flash;
constexpr auto none = spec::RecomputePolicy::none;
constexpr auto selective = spec::RecomputePolicy::selective;
constexpr auto full = spec::RecomputePolicy::full;

}  // namespace

TEST_CASE("a GPT layer keeps 34sbh + 5as^2b bytes (Korthikanti et al. 2022, eq. 1)") {
  for (const auto& m : {model_22b, model_175b, model_530b, model_1t}) {
    CHECK(kept_by_layer(gpt(m, eager, none)) == 34 * m.s * m.b * m.h + 5 * m.a * m.s * m.s * m.b);
  }
}

TEST_CASE("selective recomputation drops exactly the attention core (eq. 6 with t = 1)") {
  for (const auto& m : {model_22b, model_175b, model_530b, model_1t}) {
    CHECK(kept_by_layer(gpt(m, eager, selective)) == 34 * m.s * m.b * m.h);
    CHECK(kept_by_layer(gpt(m, flash, none)) == 34 * m.s * m.b * m.h);
  }
}

TEST_CASE("full recomputation keeps the layer's input (section 5)") {
  for (const auto& m : {model_22b, model_175b, model_530b, model_1t}) {
    CHECK(kept_by_layer(gpt(m, eager, full)) == 2 * m.s * m.b * m.h);
  }
}

TEST_CASE("tensor and sequence parallelism divide what figure 1 of the paper says they divide") {
  auto q = gpt(model_22b, eager, none);
  q.layout.tp = 8;
  CHECK(gib_of_layers(q) == Approx(59.25).epsilon(1e-6));
  q.layout.sp = true;
  q.training.recompute.policy = selective;
  CHECK(gib_of_layers(q) == Approx(9.5625).epsilon(1e-6));
}

TEST_CASE("the techniques of figure 7 save the printed shares of the tensor-parallel baseline") {
  // Printed: 22B 66.84 / 49.42 / 16.18, 175B 62.04 / 56.53 / 18.49 % for sequence parallelism, selective, both.
  const auto share = [](const Sizes& m, bool sp, spec::RecomputePolicy policy) {
    auto base = gpt(m, eager, none);
    base.layout.tp = 8;
    auto changed = gpt(m, eager, policy);
    changed.layout.tp = 8;
    changed.layout.sp = sp;
    return 100.0 * static_cast<double>(kept_by_layer(changed)) / static_cast<double>(kept_by_layer(base));
  };
  CHECK(share(model_22b, true, none) == Approx(66.84).margin(0.15));
  CHECK(share(model_22b, false, selective) == Approx(49.42).margin(0.15));
  CHECK(share(model_22b, true, selective) == Approx(16.18).margin(0.15));
  CHECK(share(model_22b, false, full) == Approx(7.64).margin(0.15));
  CHECK(share(model_175b, true, none) == Approx(62.04).margin(0.15));
  CHECK(share(model_175b, false, selective) == Approx(56.53).margin(0.15));
  CHECK(share(model_175b, true, selective) == Approx(18.49).margin(0.15));
}

TEST_CASE("a Llama layer of transformers keeps 16h + 8q + 8f + 4a + 8 bytes a token") {
  // Executed with saved-tensor hooks on transformers' modeling_llama.py in bf16 with sdpa attention.
  auto q = test::ask(test::llama2_7b_shape(), 4096, 1);
  q.training.framework = spec::Framework::hf;
  q.training.attention = spec::AttentionKernel::sdpa;
  const std::int64_t per_token = 16 * 4096 + 8 * 4096 + 8 * 11008 + 4 * 32 + 8;
  CHECK(per_token == 186'504);
  CHECK(kept_by_layer(q) == per_token * 4096);
}

TEST_CASE("grouped keys and values are expanded by transformers before they are kept") {
  spec::Shape s = test::llama2_7b_shape();
  s.kv_heads = 8;
  auto q = test::ask(s, 1024, 1);
  q.training.framework = spec::Framework::hf;
  q.training.software = read::read_software("transformers 4.53");
  q.training.attention = spec::AttentionKernel::sdpa;
  CHECK(kept_by_layer(q) == (16 * 4096 + 8 * 4096 + 8 * 11008 + 4 * 32 + 8) * 1024);
}

TEST_CASE("flash-attn takes grouped keys and values as they are") {
  spec::Shape s = test::llama2_7b_shape();
  s.kv_heads = 8;
  auto q = test::ask(s, 1024, 1);
  q.training.framework = spec::Framework::hf;
  CHECK(kept_by_layer(q) == (16 * 4096 + 4 * 4096 + 4 * 1024 + 8 * 11008 + 4 * 32 + 8) * 1024);
}

TEST_CASE("a frozen Llama layer keeps 8h + 8q + 6f + 4a + 8 bytes a token") {
  auto q = test::ask(test::llama2_7b_shape(), 4096, 1);
  q.training.framework = spec::Framework::hf;
  q.training.method = spec::Method::prompt;  // gradients flow through, no weight of the layer is trained
  CHECK(kept_by_layer(q) == (8 * 4096 + 8 * 4096 + 6 * 11008 + 4 * 32 + 8) * 4096);
}

TEST_CASE("eager attention of transformers adds 6as bytes a token and drops the log-sum-exp") {
  auto q = test::ask(test::llama2_7b_shape(), 512, 2);
  q.training.framework = spec::Framework::hf;
  q.training.attention = eager;
  CHECK(kept_by_layer(q) == (16 * 4096 + 8 * 4096 + 8 * 11008 + 8 + 6 * 32 * 512) * 1024);
}

TEST_CASE("fused kernels keep 8h + 8q + 6f + 4a + 8 bytes a token (Liger-Kernel)") {
  auto q = test::ask(test::llama2_7b_shape(), 1024, 1);
  q.training.framework = spec::Framework::liger;
  q.training.fused_kernels = true;
  CHECK(kept_by_layer(q) == (8 * 4096 + 8 * 4096 + 6 * 11008 + 4 * 32 + 8) * 1024);
}

TEST_CASE("a mixture layer keeps its routed tokens and the inner products of the chosen experts") {
  spec::Shape s = test::llama2_7b_shape();
  s.moe.experts = 8;
  s.moe.top_k = 2;
  s.moe.expert_ffn = 1408;
  s.moe.shared_ffn = 2816;
  const auto q = test::ask(s, 1024, 1);
  const std::int64_t attention = (4 + 6 + 2) * 4096;
  const std::int64_t experts = 2 * (2 * 4096 + 4 * 1408 + 2 * 1408);
  const std::int64_t shared = 4 * 2816 + 2 * 2816;
  const std::int64_t router = 4 * 8;
  CHECK(kept_by_layer(q) == (attention + 4 * 4096 + experts + shared + router) * 1024);
}
