// What kinds of layers hold and keep that differ from plain attention by a word of their description.
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <utility>

using namespace llmcalc;
using quantity::in_bytes;

namespace {

constexpr std::int64_t positions = 512;
constexpr std::int64_t h = 1024, a = 8, layer_count = 2;

spec::Shape shape() {
  spec::Shape s;
  s.layers = layer_count;
  s.hidden = h;
  s.heads = s.kv_heads = a;
  s.head_dim = h / a;
  s.ffn = 4 * h;
  s.vocab = 32000;
  s.max_position = positions;
  return s;
}

spec::Question ask(spec::Shape s) {
  auto q = test::ask(std::move(s), positions, 1);
  q.training.framework = spec::Framework::hf;
  q.training.attention = spec::AttentionKernel::sdpa;
  return q;
}

std::int64_t kept(const spec::Question& q, std::size_t block) {
  return in_bytes(memory::walk_block(test::program_of(q).blocks[block], {}).kept);
}

std::int64_t elements(const layers::Block& block) {
  std::int64_t sum = 0;
  for (const auto& weight : block.weights) sum += weight.elements;
  return sum;
}

spec::Shape latent(std::int64_t index_heads) {
  auto s = shape();
  s.latent = {.q_rank = 256, .kv_rank = 128, .qk_nope_dim = 64, .qk_rope_dim = 32, .v_dim = 64};
  s.latent.index_heads = index_heads;
  s.latent.index_dim = 32;
  s.latent.index_top_k = 64;
  return s;
}

/// The first layer as every other, the second as it is given.
spec::Shape with_second(spec::LayerPlan second) {
  auto s = shape();
  s.plan = {spec::LayerPlan{}, std::move(second)};
  return s;
}

}  // namespace

/// transformers modeling_deepseek_v32.py, DeepseekV32Indexer: wq_b, wk, weights_proj and a LayerNorm with bias, whose
/// forward pass stands under torch.no_grad(); DeepseekV32Attention.forward gives PyTorch's kernel a mask of its choice,
/// which it keeps in the type of the scores.
TEST_CASE("an indexer is not trained by the model's loss, and of it the mask alone is kept for the backward pass") {
  constexpr std::int64_t heads = 4, dim = 32;
  constexpr std::int64_t indexer = 256 * heads * dim + h * (dim + heads) + 2 * dim;
  const auto with = program::count_parameters(test::program_of(ask(latent(heads))));
  const auto without = program::count_parameters(test::program_of(ask(latent(0))));
  CHECK(with.total - without.total == layer_count * indexer);
  CHECK(with.trainable == without.trainable);
  constexpr std::int64_t mask = positions * positions * 2;
  CHECK(kept(ask(latent(heads)), 1) - kept(ask(latent(0)), 1) == mask);
}

/// transformers modeling_gemma3n.py, Gemma3nTextAttention: no k_proj and v_proj where is_kv_shared_layer.
TEST_CASE("a layer that borrows keys and values neither makes nor keeps them") {
  const auto q = ask(with_second({.borrows_keys = true, .beside = {}}));
  const auto program = test::program_of(q);
  CHECK(elements(program.blocks[1]) - elements(program.blocks[2]) == 2 * h * h);
  CHECK(kept(q, 1) - kept(q, 2) == 2 * positions * h * 2);
}

/// transformers modeling_gemma4.py, Gemma4TextAttention: no v_proj where use_alternative_attention.
TEST_CASE("one projection makes keys and values") {
  const auto q = ask(with_second({.keys_are_values = true, .beside = {}}));
  const auto program = test::program_of(q);
  CHECK(elements(program.blocks[1]) - elements(program.blocks[2]) == h * h);
  CHECK(kept(q, 1) - kept(q, 2) == positions * h * 2);
}

/// transformers modeling_mimo_v2_flash.py, MiMoV2FlashAttention: v_proj and o_proj are v_head_dim wide a head.
TEST_CASE("values may be narrower than keys") {
  const auto q = ask(with_second({.value_dim = h / a / 2, .beside = {}}));
  const auto program = test::program_of(q);
  CHECK(elements(program.blocks[1]) - elements(program.blocks[2]) == 2 * h * h / 2);
  CHECK(kept(q, 1) - kept(q, 2) == 2 * positions * h / 2 * 2);
}

TEST_CASE("a matrix beside reads what attention reads and keeps what it makes") {
  const auto q = ask(with_second({.beside = {{spec::Role::attention_gate, h, h / 4, false}}}));
  const auto program = test::program_of(q);
  CHECK(elements(program.blocks[2]) - elements(program.blocks[1]) == h * h / 4);
  CHECK(kept(q, 2) - kept(q, 1) == positions * h / 4 * 2);
}

/// transformers modeling_t5gemma2.py, T5Gemma2MergedAttention: k_proj and v_proj read the decoder's states and the
/// encoder's, there is no encoder_attn and no norm before it.
TEST_CASE("a decoder that attends to itself and the encoder at once has no matrices for the latter alone") {
  const auto total = [](bool merges) {
    auto s = with_second({.merges_memory = merges, .beside = {}});
    s.stack = spec::Stack::encoder_decoder;
    s.layers = s.decoder_layers = 1;
    return program::count_parameters(test::program_of(ask(s))).total;
  };
  CHECK(total(false) - total(true) == 4 * h * h + h);
}

/// transformers modeling_mllama.py, MllamaTextCrossAttention: norms of queries and keys, each over a head, keep an fp32
/// copy, its product and one over the root (2 + 4 bytes an element, 4 a head and position).
TEST_CASE("a layer that attends to a tower makes keys and values of what that hands over") {
  constexpr std::int64_t patches = 128;
  auto s = with_second({.attends_to_tower = true, .norms_tower_heads = true, .beside = {}});
  spec::Tower tower{.name = "vision", .layers = shape(), .positions = patches, .projector = {}};
  tower.layers.stack = spec::Stack::encoder;
  s.towers = {tower};
  const auto q = ask(s);
  const auto program = test::program_of(q);
  CHECK(elements(program.blocks[2]) - elements(program.blocks[1]) == 2 * h / a);
  CHECK(kept(q, 2) - kept(q, 1) == 2 * (patches - positions) * h * 2 + (positions + patches) * (6 * h + 4 * a));
}

/// Megatron-LM core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher, and moe_layer.py, custom_forward:
/// local variables hold the rows that a rank sends, receives and returns until the layer is done.
TEST_CASE("Megatron holds the routed rows of every mixture until its parts are put together") {
  int mixtures = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (preset.shape.moe.experts == 0) continue;
    CAPTURE(preset.id);
    auto q = test::ask(preset.shape, 128, 1);
    q.training.framework = spec::Framework::megatron;
    for (const auto& block : test::program_of(q).blocks) {
      const auto is_sent = [](const layers::Op& op) { return op.routed; };
      const auto holds = [](const layers::Op& op) { return op.held.size() >= 3; };
      if (std::ranges::none_of(block.ops, is_sent)) continue;
      CHECK(std::ranges::any_of(block.ops, holds));
      ++mixtures;
    }
  }
  CHECK(mixtures > 50);
}
