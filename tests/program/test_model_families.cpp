// Bytes a token that a layer keeps, as transformers, litgpt and torchtune write families that differ from Llama. Every
// expected value is a count of the tensors that autograd saves in the modules named; executing those modules
// (transformers 4.44, litgpt 0.4.13, torchtune 0.3.1 under saved_tensors_hooks) gave the same ones.

#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/words/terms.hpp"

#include <algorithm>
#include <string_view>

using namespace llmcalc;
using quantity::in_bytes;
using spec::Framework;
using spec::Method;

namespace {

constexpr std::int64_t seq = 512, tokens = 2 * seq;
constexpr std::int64_t h = 2048, a = 16, f = 8192, vocab = 32000;
constexpr std::int64_t rms_norm = 4 * h + 4;    ///< fp32 copy of the input, one reciprocal root
constexpr std::int64_t layer_norm = 2 * h + 8;  ///< the input, mean and reciprocal deviation
constexpr std::int64_t log_sum_exp = 4 * a;
constexpr std::int64_t attention = 4 * 2 * h + log_sum_exp;  ///< q, k, v and the output, all as wide as the queries

spec::Shape shape() {
  spec::Shape s;
  s.layers = 2;
  s.hidden = h;
  s.heads = s.kv_heads = a;
  s.head_dim = h / a;
  s.ffn = f;
  s.vocab = vocab;
  s.max_position = seq;
  return s;
}

/// LayerNorm, ungated GELU and rotary positions, attention and MLP side by side.
spec::Shape gpt_neox() {
  auto s = shape();
  s.norm = spec::Norm::layernorm;
  s.mlp = spec::Mlp::gelu;
  s.parallel_residual = true;
  s.writing.fused_qkv = true;
  return s;
}

spec::Shape mixtral() {
  auto s = shape();
  s.moe = {.experts = 8, .top_k = 2, .expert_ffn = f};
  return s;
}

spec::Shape gemma() {
  auto s = shape();
  s.mlp = spec::Mlp::geglu;
  s.kv_heads = 1;
  s.writing.norm = spec::NormForm::offset;
  return s;
}

spec::Question ask(spec::Shape s, Framework framework, Method method) {
  auto q = test::ask(std::move(s), seq, tokens / seq);
  q.training.framework = framework;
  q.training.software = read::read_software("2024");
  q.training.method = method;
  q.training.attention = spec::AttentionKernel::sdpa;
  q.training.adapter.rank = 8;
  return q;
}

std::int64_t kept(const spec::Question& q) {
  return in_bytes(memory::walk_block(test::program_of(q).blocks[1], {}).kept) / tokens;
}

/// \pre the layer has a tensor of that name
layers::Tensor tensor(const spec::Question& q, std::string_view name) {
  const auto program = test::program_of(q);
  return *std::ranges::find(program.blocks[1].tensors, name, &layers::Tensor::name);
}

}  // namespace

TEST_CASE("Gemma's norms keep 4 bytes an element for their weight, and one key head is expanded as a view") {
  constexpr std::int64_t one_head = 2 * (h / a);
  constexpr std::int64_t multi_query = 2 * 2 * h + 2 * one_head + log_sum_exp;
  constexpr std::int64_t frozen = 2 * rms_norm + multi_query + 6 * f;
  CHECK(kept(ask(gemma(), Framework::hf, Method::lora)) == frozen);
  CHECK(kept(ask(gemma(), Framework::hf, Method::full)) == frozen + 2 * (4 * h + 2 * h) + 2 * f);
  CHECK(kept(ask(gemma(), Framework::torchtune, Method::full)) == frozen + 2 * (4 * h + 2 * h) + 2 * f);
}

TEST_CASE("litgpt rotates keys of all query heads and keeps the projection for the values") {
  constexpr std::int64_t projection = 2 * (h + 2 * (h / a));
  constexpr std::int64_t frozen = 2 * rms_norm + projection + 3 * 2 * h + log_sum_exp + 6 * f;
  CHECK(kept(ask(gemma(), Framework::litgpt, Method::lora)) == frozen);
}

TEST_CASE("litgpt's RMSNorm is fp32 until it has been weighted, of every family") {
  constexpr std::int64_t trained = 2 * (rms_norm + 4 * h + 2 * h) + 6 * h + 3 * 2 * h + log_sum_exp + 8 * f;
  CHECK(kept(ask(shape(), Framework::litgpt, Method::full)) == trained);
}

TEST_CASE("Gemma 2 writes its capped scores: tanh, softmax in fp32 and probabilities") {
  auto s = gemma();
  s.kv_heads = a;
  s.norms_per_layer = 4;
  s.writing.caps_scores = s.writing.caps_logits = true;
  constexpr std::int64_t scores = a * seq * (2 + 4 + 2);
  constexpr std::int64_t around = 4 * rms_norm + 6 * f;
  auto q = ask(s, Framework::hf, Method::lora);
  CHECK(kept(q) == around + attention);
  q.training.attention = spec::AttentionKernel::eager;
  CHECK(kept(q) == around + 3 * 2 * h + scores);
  CHECK(kept(ask(s, Framework::torchtune, Method::lora)) == around + 3 * 2 * h + scores);
}

TEST_CASE("a cap on logits keeps the tanh, 2 bytes a logit") {
  const auto head = [](bool capped) {
    auto s = gemma();
    s.writing.caps_logits = capped;
    const auto q = ask(s, Framework::hf, Method::lora);
    return in_bytes(memory::walk_block(test::program_of(q).blocks.back(), {}).kept);
  };
  CHECK(head(true) - head(false) == 2 * vocab * tokens);
}

TEST_CASE("GPT-NeoX keeps the fused projection for the values beside rotated queries and keys") {
  constexpr std::int64_t frozen = 2 * layer_norm + 6 * h + 3 * 2 * h + log_sum_exp + 2 * f;
  CHECK(kept(ask(gpt_neox(), Framework::hf, Method::lora)) == frozen - layer_norm + 8);  // both norms read one tensor
  CHECK(kept(ask(gpt_neox(), Framework::litgpt, Method::lora)) == frozen - layer_norm + 8);
}

TEST_CASE("GPT-2's GELU in Python keeps x, its tanh and the factors of the last product: 8f, and 10f when trained") {
  auto s = gpt_neox();
  s.parallel_residual = false;
  s.position = spec::Position::learned;
  s.writing.chained_gelu = true;
  constexpr std::int64_t frozen = 2 * layer_norm + 6 * h + 2 * h + log_sum_exp + 8 * f;
  CHECK(kept(ask(s, Framework::hf, Method::lora)) == frozen);
  CHECK(kept(ask(s, Framework::hf, Method::full)) == frozen + 2 * 2 * h + 2 * f);
  auto q = ask(s, Framework::hf, Method::lora);
  q.training.compile = true;
  CHECK(kept(q) == frozen - 6 * f);
}

/// The power squares its input (2 passes), multiplies by the exponent (2) and by the gradient (3):
/// torch/csrc/autograd/FunctionsManual.cpp, pow_backward.
TEST_CASE("the gradient of GPT-2's power moves its elements seven times in three kernels") {
  auto s = gpt_neox();
  s.writing.chained_gelu = true;
  int powers = 0;
  for (const auto& block : test::program_of(ask(s, Framework::hf, Method::full)).blocks) {
    for (const auto& op : block.ops) {
      if (op.name != "cube") continue;
      CHECK((in_bytes(op.moved_backward) == 7 * 2 * tokens * f && op.kernels_backward == 3));
      ++powers;
    }
  }
  CHECK(powers == 1);
}

TEST_CASE("Command R's LayerNorm keeps two fp32 differences and, trained, the normalised ones; OLMo's its fp32 input") {
  auto s = shape();
  s.norm = spec::Norm::layernorm_no_bias;
  s.writing.norm = spec::NormForm::chained;
  constexpr std::int64_t others = attention + 6 * f;
  CHECK(kept(ask(s, Framework::hf, Method::lora)) == 2 * (8 * h + 4) + others);
  CHECK(kept(ask(s, Framework::hf, Method::full)) == 2 * (12 * h + 4 + 2 * h) + others + 2 * f);
  s.norm = spec::Norm::nonparametric;
  s.writing.norm = spec::NormForm::widened;
  CHECK(kept(ask(s, Framework::hf, Method::lora)) == 2 * (4 * h + 8) + others);
}

/// integrations/sdpa_attention.py of releases 4.44, 4.53 and 4.56, with four query heads to each key head.
TEST_CASE("transformers expanded grouped keys until 4.54 and copied a kernel's operands from 4.48 to 4.55") {
  const auto at = [](std::int64_t kv_heads, std::string_view release) {
    auto s = shape();
    s.kv_heads = kv_heads;
    auto q = ask(s, Framework::hf, Method::lora);
    q.training.software = read::read_software(release);
    return kept(q) - 2 * rms_norm - 6 * f - log_sum_exp - 2 * 2 * h;  // keys and values
  };
  CHECK(at(a / 4, "transformers 4.53") == 2 * 2 * h);
  CHECK(at(a / 4, "transformers 4.56") == 2 * 2 * h / 4);
  CHECK(at(1, "transformers 4.44") == 2 * 2 * h / a);
  CHECK(at(1, "transformers 4.53") == 2 * 2 * h);
  auto q = ask(gpt_neox(), Framework::hf, Method::lora);
  const std::int64_t with_projection = kept(q);
  q.training.software = read::read_software("transformers 4.53");
  CHECK(kept(q) == with_projection - 4 * h);
}

/// MixtralSparseMoeBlock: fp32 probabilities; of each of two experts gate, activated gate and up projection, its result
/// and, for index_add_, the weighted result. litgpt adds by index_put_, which keeps none.
TEST_CASE("a loop over experts keeps their results and what is added") {
  constexpr std::int64_t experts = 4 * 8 + 2 * (6 * f + 2 * h);
  constexpr std::int64_t frozen = 2 * rms_norm + attention + experts;
  CHECK(kept(ask(mixtral(), Framework::hf, Method::lora)) == frozen + 2 * 2 * h);
  constexpr std::int64_t projection = 6 * h - 2 * h;  // in the place of a value tensor
  CHECK(kept(ask(mixtral(), Framework::litgpt, Method::lora)) == frozen + projection);
}

TEST_CASE("of what a loop over experts does not keep one expert's part exists at a time, and of all gradients") {
  auto q = ask(mixtral(), Framework::hf, Method::lora);
  constexpr std::int64_t all = 2 * tokens * 2 * f;
  CHECK(in_bytes(tensor(q, "gated product").size) == all / 8);
  CHECK(in_bytes(tensor(q, "gate projection").size) == all);
  CHECK(in_bytes(tensor(q, "gate projection").gradient) == all / 8);
  q.training.software = read::read_software("transformers 5.0");
  CHECK(in_bytes(tensor(q, "gate and up projection").gradient) == 2 * all);
}

/// peft finds the linear layers of every expert and the router: rank * (in + out) each.
TEST_CASE("all-linear adapts each expert's matrices and the router") {
  auto q = ask(mixtral(), Framework::hf, Method::lora);
  q.training.adapter.targets = {"all-linear"};
  constexpr std::int64_t sums = 4 * (h + h) + 8 * 3 * (h + f) + (h + 8);
  CHECK(program::count_parameters(test::program_of(q)).trainable == 2 * 8 * sums);
}

/// DeepSeek-V3's attention in torchtitan (models/deepseek_v3/model.py) and transformers: the two latents' norms, q and
/// k of 192 elements a head, the up projection of 128 + 128, of which the values are a part, and 128 of the output.
TEST_CASE("latent attention's values stay in the projection that made them") {
  auto s = shape();
  s.latent = {.q_rank = 768, .kv_rank = 512, .qk_nope_dim = 128, .qk_rope_dim = 64, .v_dim = 128};
  constexpr std::int64_t norms = 2 * rms_norm + (4 * 768 + 4) + (4 * 512 + 4);
  constexpr std::int64_t heads = 2 * a * (192 + 192 + 256 + 128) + log_sum_exp;
  CHECK(kept(ask(s, Framework::torchtitan, Method::lora)) == norms + heads + 6 * f);
  auto q = ask(s, Framework::hf, Method::lora);
  q.training.software = read::read_software("transformers 4.56");
  CHECK(kept(q) == norms + heads + 6 * f);
  q.training.software = read::read_software("transformers 4.53");
  CHECK(kept(q) == norms + heads - 2 * a * 128 + 6 * f);
}

TEST_CASE("torchtitan keeps the experts' results in fp32 for their scores, unless it is compiled") {
  auto q = ask(mixtral(), Framework::torchtitan, Method::lora);
  constexpr std::int64_t others = 2 * rms_norm + attention + 4 * 8 + 2 * 6 * f;
  CHECK(kept(q) == others + 2 * 4 * h);
  const std::int64_t eager = kept(q);
  q.training.compile = true;
  CHECK(kept(q) < eager - 2 * 2 * h);
}
