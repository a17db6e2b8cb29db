// What is run again in the backward pass: some layers, groups of layers, parts of layers.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "memory/step_walk.hpp"
#include "program/count.hpp"

#include <vector>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_flops;
using spec::RecomputeLayers;
using spec::RecomputeModule;

namespace {

// A layer so long that it outweighs head and loss: s, b, h, a and L of the papers.
constexpr std::int64_t s = 4096, b = 2, h = 1024, a = 16, depth = 24;
constexpr std::int64_t sbh = s * b * h;
constexpr std::int64_t whole_layer = 34 * sbh + 5 * a * s * s * b;  // Korthikanti et al. 2022, eq. 1

spec::Question gpt(spec::AttentionKernel kernel, const spec::Recompute& recompute) {
  auto q = test::ask(test::gpt_shape(depth, h, a, 1024, s), s, b);
  q.training.attention = kernel;
  q.training.recompute = recompute;
  return q;
}

spec::Question some_layers(RecomputeLayers which, std::int64_t count) {
  return gpt(spec::AttentionKernel::eager, {spec::RecomputePolicy::full, which, count, {}, {}});
}

spec::Question some_modules(const std::vector<RecomputeModule>& modules) {
  return gpt(spec::AttentionKernel::flash, {spec::RecomputePolicy::selective, RecomputeLayers::all, 1, modules, {}});
}

memory::StepMemory walk(const spec::Question& q, std::int64_t stage = 0) {
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  return memory::StepWalk(program, q, profile).walk(stage);
}

/// Kept by all layers when the loss is computed; the embedding keeps a dropout mask.
std::int64_t kept_by_layers(const spec::Question& q, std::int64_t stage = 0) {
  return in_bytes(walk(q, stage).steady[static_cast<std::size_t>(memory::Phase::loss)].alive.activations) - sbh;
}

std::int64_t backward_peak(const spec::Question& q) {
  return in_bytes(walk(q).steady[static_cast<std::size_t>(memory::Phase::backward)].alive.total());
}

memory::BlockWalk layer_of(const spec::Question& q) { return memory::walk_block(test::program_of(q).blocks[1], {}); }

double recomputed(const spec::Question& q) { return in_flops(program::count_work(test::program_of(q)).recompute); }

}  // namespace

TEST_CASE("every k-th layer keeps its input, the others all they made") {
  for (const std::int64_t k : {2, 3, 5, 24}) {
    const std::int64_t again = depth / k;
    CHECK(kept_by_layers(some_layers(RecomputeLayers::every, k)) == again * 2 * sbh + (depth - again) * whole_layer);
  }
  CHECK(kept_by_layers(some_layers(RecomputeLayers::every, 25)) == depth * whole_layer);
}

TEST_CASE("the first n layers of each stage are run again (Megatron-LM --recompute-method block)") {
  auto q = some_layers(RecomputeLayers::block, 5);
  CHECK(kept_by_layers(q) == 5 * 2 * sbh + (depth - 5) * whole_layer);
  q.layout.pp = 2;
  CHECK(kept_by_layers(q, 1) + sbh == 5 * 2 * sbh + (depth / 2 - 5) * whole_layer);
}

TEST_CASE("groups of k layers take (L/k) 2sbh + k A (Chen et al. 2016, arXiv:1604.06174 section 4.1)") {
  const std::int64_t full = backward_peak(some_layers(RecomputeLayers::all, 1));
  for (const std::int64_t k : {2, 4, 6, 12}) {
    const auto q = some_layers(RecomputeLayers::uniform, k);
    CHECK(kept_by_layers(q) == depth / k * 2 * sbh);
    CHECK(backward_peak(q) - full == (k - 1) * whole_layer - (depth - depth / k) * 2 * sbh);
  }
  CHECK(backward_peak(some_layers(RecomputeLayers::uniform, 1)) == full);
}

TEST_CASE("a group ends with its stage") {
  auto q = some_layers(RecomputeLayers::uniform, 5);
  CHECK(kept_by_layers(q) == 5 * 2 * sbh);  // 5 + 5 + 5 + 5 + 4 layers
  q.layout.pp = 2;
  CHECK(kept_by_layers(q, 1) + sbh == 3 * 2 * sbh);  // 5 + 5 + 2
}

TEST_CASE("FLOPs of the layers that are run again are counted twice") {
  const double all = recomputed(some_layers(RecomputeLayers::all, 1));
  CHECK(recomputed(some_layers(RecomputeLayers::every, 2)) == Approx(all / 2).epsilon(1e-12));
  CHECK(recomputed(some_layers(RecomputeLayers::block, 6)) == Approx(all / 4).epsilon(1e-12));
  CHECK(recomputed(some_layers(RecomputeLayers::uniform, 6)) == Approx(all).epsilon(1e-12));
}

TEST_CASE("of 34sbh the MLP makes 16 again and the two norms 4") {
  CHECK(in_bytes(layer_of(some_modules({RecomputeModule::core_attn})).kept) == 34 * sbh);
  CHECK(in_bytes(layer_of(some_modules({RecomputeModule::mlp})).kept) == (34 - 16) * sbh);
  CHECK(in_bytes(layer_of(some_modules({RecomputeModule::layernorm})).kept) == (34 - 4) * sbh);
  CHECK(in_bytes(layer_of(some_modules({RecomputeModule::mlp, RecomputeModule::layernorm})).kept) == 14 * sbh);
  const auto both = gpt(spec::AttentionKernel::eager, {spec::RecomputePolicy::selective,
                                                       RecomputeLayers::all,
                                                       1,
                                                       {RecomputeModule::mlp, RecomputeModule::core_attn},
                                                       {}});
  CHECK(in_bytes(layer_of(both).kept) == (34 - 16) * sbh);
}

TEST_CASE("what is run again lives no longer in the backward pass than what was kept, but for its own result") {
  const auto kept = layer_of(gpt(spec::AttentionKernel::flash, {}));
  for (const auto module : {RecomputeModule::mlp, RecomputeModule::layernorm, RecomputeModule::core_attn}) {
    const auto again = layer_of(some_modules({module}));
    CHECK(again.backward_peak <= kept.backward_peak + quantity::bytes(2 * sbh));
    CHECK(again.backward_peak > again.kept);
    CHECK(again.forward_peak <= kept.forward_peak);
  }
}

TEST_CASE("the MLP's forward work is repeated with it") {
  CHECK(recomputed(some_modules({RecomputeModule::mlp})) == Approx(16.0 * s * b * h * h * depth).epsilon(1e-12));
  CHECK(recomputed(some_modules({RecomputeModule::layernorm})) == 0.0);
}

TEST_CASE("Transformer Engine's dense norms are part of the product behind them") {
  auto q = some_modules({});
  q.training.framework = spec::Framework::megatron;
  const auto kept = layer_of(q).kept;
  q.training.recompute.modules = {RecomputeModule::core_attn, RecomputeModule::layernorm};
  CHECK(layer_of(q).kept == kept);
}

namespace {

/// A layer of DeepSeek-V2-Lite's kind (arXiv:2405.04434 section 3.1.2): latent attention, experts and shared experts.
spec::Question deepseek(const std::vector<RecomputeModule>& modules) {
  spec::Shape shape = test::llama2_7b_shape();
  shape.hidden = 2048;
  shape.heads = shape.kv_heads = 16;
  shape.latent = {1536, 512, 128, 64, 128};
  shape.moe.experts = 64;
  shape.moe.top_k = 6;
  shape.moe.expert_ffn = 1408;
  shape.moe.shared_ffn = 2816;
  auto q = test::ask(shape, s, b);
  q.training.framework = spec::Framework::megatron;
  q.training.recompute.policy = spec::RecomputePolicy::selective;
  q.training.recompute.modules = modules;
  return q;
}

std::int64_t saved_by(const std::vector<RecomputeModule>& modules) {
  auto whole = deepseek({});
  whole.training.recompute = {};
  return in_bytes(layer_of(whole).kept - layer_of(deepseek(modules)).kept);
}

}  // namespace

TEST_CASE("modules of experts and latent attention save the tensors that Megatron-LM names") {
  constexpr std::int64_t tokens = s * b, two_bytes = 2, fp32 = 4;
  constexpr std::int64_t rows = 6 * tokens;
  CHECK(saved_by({RecomputeModule::moe_act}) == two_bytes * rows * 1408);
  CHECK(saved_by({RecomputeModule::layernorm}) == two_bytes * 2 * tokens * 2048 + fp32 * 2 * tokens);
  // Queries, keys and values, and the two normalised latents with their reciprocal deviations.
  CHECK(saved_by({RecomputeModule::mla_up_proj}) ==
        two_bytes * tokens * (16 * (192 + 192 + 128) + 1536 + 512) + fp32 * 2 * tokens);
  CHECK(saved_by({RecomputeModule::shared_experts}) == two_bytes * tokens * 3 * 2816);
  // Dispatched rows, gate and up, the product of both; the router's fp32 probabilities; the shared experts.
  CHECK(saved_by({RecomputeModule::moe}) ==
        two_bytes * rows * (2048 + 3 * 1408) + fp32 * tokens * 64 + two_bytes * tokens * 3 * 2816);
}

namespace {

/// Llama 3 8B under MaxText on one accelerator, which keeps some results of a layer that runs again.
spec::Question llama(const std::vector<spec::KeptResult>& kept) {
  spec::Shape shape = test::llama2_7b_shape();
  shape.kv_heads = 8;
  shape.ffn = 14336;
  auto q = test::ask(shape, 8192, 2);
  q.training.framework = spec::Framework::maxtext;
  q.training.attention = spec::AttentionKernel::flash;
  q.training.recompute.policy = spec::RecomputePolicy::full;
  q.training.recompute.kept = kept;
  return q;
}

constexpr std::int64_t tokens_of_llama = 16384, hidden_of_llama = 4096, ffn_of_llama = 14336;

}  // namespace

TEST_CASE("a layer of MaxText keeps what its policy names beside its input") {
  using enum spec::KeptResult;
  const auto beside_input = [](const std::vector<spec::KeptResult>& kept) {
    return in_bytes(layer_of(llama(kept)).kept - layer_of(llama({})).kept) / (2 * tokens_of_llama);
  };
  CHECK(in_bytes(layer_of(llama({})).kept) == 2 * tokens_of_llama * hidden_of_llama);
  CHECK(32 * 2 * tokens_of_llama * beside_input({query, key, value}) == std::int64_t{6} << 30);  // save_qkv_proj
  CHECK(beside_input({context}) == hidden_of_llama);
  CHECK(beside_input({out}) == hidden_of_llama);
  CHECK(beside_input({gate, up}) == 2 * ffn_of_llama);
  CHECK(beside_input({down}) == 0);  // nothing reads it
  CHECK(beside_input({query, key, value, out, gate, up, down}) ==
        6144 + hidden_of_llama + 2 * ffn_of_llama);  // minimal
}

TEST_CASE("of a layer of MaxText runs again what leads to something that is read and was not kept") {
  using enum spec::KeptResult;
  const auto again = [](const std::vector<spec::KeptResult>& kept) {
    return recomputed(llama(kept)) / (32.0 * tokens_of_llama);
  };
  const double down_work = 2.0 * hidden_of_llama * ffn_of_llama;
  const double out_work = 2.0 * hidden_of_llama * hidden_of_llama;
  const double qkv_work = 2.0 * hidden_of_llama * 6144;
  const double core_work = 2.0 * hidden_of_llama * (8192 + 1);
  CHECK(again({}) == Approx(qkv_work + core_work + out_work + 2 * down_work));
  CHECK(again({out}) == Approx(qkv_work + core_work + 2 * down_work));  // the core's output is read by its product
  CHECK(again({query, key, value}) == Approx(core_work + out_work + 2 * down_work));
  CHECK(again({query, key, value, out, gate, up}) == Approx(core_work));  // minimal
  CHECK(again({query, key, value, context, out, gate, up}) == 0.0);       // minimal_with_context
}
