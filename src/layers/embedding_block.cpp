#include "layers/blocks.hpp"
#include "layers/inner/attention.hpp"
#include "layers/inner/parts.hpp"

namespace llmcalc::layers {

namespace {

/// Each rank looks up the tokens of its rows of the table and the ranks add up (Megatron-LM core/tensor_parallel/
/// layers.py, VocabParallelEmbedding.forward).
void exchange_rows(const Context& c, Op& op, quantity::Bytes embedded) {
  if (c.tp == 1) return;
  const auto kind = c.sp > 1 ? Collective::reduce_scatter : Collective::all_reduce;
  op.messages.push_back({kind, RankGroup::tensor, false, false, c.sp * embedded});
  if (c.sp > 1) op.messages.push_back({Collective::all_gather, RankGroup::tensor, true, false, c.sp * embedded});
}

/// Looks rows up; keeps the int64 token ids, 8 bytes a position, and nothing as wide as the hidden state.
Value look_up(BlockBuilder& b, std::int64_t width) {
  const Context& c = b.context();
  const std::int64_t rows = (c.tokens - quantity::product(c.batch, c.prompt)) / c.sp;
  const bool trained = c.trains_base || c.saves(Role::token_table);
  const Value x = b.value("embedded tokens", rows, width, c.autocast ? 4 : c.width, trained);
  Op op{.kind = OpKind::embedding, .name = "token embedding", .outputs = {x.id}};
  op.weight = b.table(Role::token_table, c.shape().vocab, width, true);
  b.block().weights.back().has_sharer = c.shares_table;
  if (c.adapts(Role::token_table)) b.idle_adapter({Role::token_table, c.shape().vocab, width});
  if (c.adapter_rank > 0 && c.training.adapter.trained_tokens > 0) {
    b.adapter_weight("trained tokens", c.training.adapter.trained_tokens, width);
  }
  exchange_rows(c, op, b.size(x.id));
  if (c.profile.loop.keeps_batch) {
    const Value batch = b.value("token ids, labels and mask", c.tokens, 3, sizeof(std::int64_t), false);
    op.outputs.push_back(batch.id);
    op.saved.push_back(batch.id);
  }
  b.append(op);
  return x;
}

}  // namespace

void embedding_block(const Context& c, Block& block) {
  const auto& shape = c.shape();
  block.name = "embedding";
  BlockBuilder b(c, block);
  const std::int64_t width = shape.embedding_width > 0 ? shape.embedding_width : shape.hidden;
  const std::int64_t inner = shape.embeds_narrow ? width : shape.hidden;
  Value x = look_up(b, width);
  if (width != inner) x = b.linear(x, {Role::embedding_in, width, shape.hidden});
  if (shape.position_rows > 0) b.table(Role::position_table, shape.position_rows, inner, false);
  if (shape.token_types > 0) b.table(Role::position_table, shape.token_types, inner, false);
  x = behind_prompt(b, x);
  if (shape.embedding_norm) x = b.norm(x, "embedding norm");
  if (inner != shape.hidden) x = b.linear(x, {Role::embedding_in, width, shape.hidden, true});
  if (shape.extra > 0) b.vector("other parameters", shape.extra);
  make_layer_inputs(b, x);
  b.output(b.dropout(x, "embedding dropout"));
}

/// Hidden state and embedding of the token that follows it, each normed, through one matrix, whose parts the ranks
/// gather before each takes its positions again (DeepSeek-V3, arXiv:2412.19437 section 2.2; Megatron-LM
/// core/transformer/multi_token_prediction.py, MultiTokenPredictionLayer._concat_embeddings). The last stage of several
/// has a token table for it.
void further_input_block(const Context& c, Block& block) {
  const std::int64_t width = c.shape().hidden;
  block.name = "further token";
  BlockBuilder b(c, block);
  const Value hidden = b.input("hidden state", c.tokens / c.sp, width, c.differentiates);
  const Value token = look_up(b, width);
  Weight& table = block.weights.back();
  table.tied = true;
  table.has_sharer = false;
  table.shared = c.stages == 1;
  const Value next = b.norm(token, "embedding norm");
  const Value before = b.norm(hidden, "hidden norm");
  const Value joined = b.value("joined", hidden.rows, 2 * width, hidden.width, c.differentiates);
  b.append({.kind = OpKind::permutation, .name = "joined", .inputs = {next.id, before.id}, .outputs = {joined.id}});
  const Value part = b.linear(joined, {Role::embedding_in, joined.columns, width, false, Cut::columns});
  Op gather{.kind = OpKind::permutation, .name = "projected", .inputs = {part.id}};
  const Value x = b.value(gather.name, hidden.rows, width, part.width, c.differentiates);
  gather.outputs = {x.id};
  if (c.tp > 1)
    gather.messages.push_back({Collective::all_gather, RankGroup::tensor, false, false, c.sp * b.size(x.id)});
  if (c.sp > 1)
    gather.messages.push_back({Collective::all_gather, RankGroup::tensor, true, false, c.sp * b.size(x.id)});
  if (c.tp > 1) b.append(gather);
  b.output(c.tp > 1 ? x : part);
  block.checkpointed = c.training.recompute.policy == spec::RecomputePolicy::full;
}

void bridge_block(const Context& c, Block& block) {
  const auto& shape = c.shape();
  block.name = "decoder embedding";
  BlockBuilder b(c, block);
  const Value encoded = b.input("encoder hidden state", c.encoder_tokens() / c.sp, shape.hidden, c.trains_base);
  const Value normed = shape.final_norm ? b.norm(encoded, "encoder final norm") : encoded;
  const Value x = b.value("embedded targets", c.tokens / c.sp, shape.hidden, encoded.width, c.trains_base);
  b.append({.kind = OpKind::embedding,
            .name = "target embedding",
            .inputs = {normed.id},
            .outputs = {x.id},
            .saved = {normed.id}});
  b.output(b.dropout(x, "embedding dropout"));
}

/// A convolution whose stride is its kernel is one product of each patch (transformers modeling_clip.py,
/// CLIPVisionEmbeddings).
void tower_embedding_block(const Context& c, const spec::Tower& tower, Block& block) {
  block.name = "tower embedding";
  BlockBuilder b(c, block);
  const std::int64_t width = c.shape().hidden;
  Value x = b.value("patches", c.tokens, tower.patch_inputs > 0 ? tower.patch_inputs : width, c.width, false);
  if (tower.patch_inputs > 0) x = b.linear(x, {Role::patches, tower.patch_inputs, width, tower.patch_bias});
  if (tower.extra > 0) b.vector("other tower parameters", tower.extra);
  b.output(x);
}

/// Rows: what the last tower makes of the images of a micro-batch. Without towers (--text-only) one stands for them,
/// and where a server has kept what it made of them.
Value tower_output(BlockBuilder& b) {
  const Context& c = b.context();
  const spec::Shape& shape = c.shape();
  std::int64_t rows = c.batch;
  const bool runs = c.training.towers != spec::TowerUse::absent && c.training.cached == 0;
  if (!shape.towers.empty() && runs) {
    const spec::Tower& tower = shape.towers.back();
    const std::int64_t positions = c.training.patches > 0 ? c.training.patches : tower.positions;
    rows = quantity::product(c.batch, c.training.images, quantity::ceil_divide(positions, tower.merged));
  }
  const std::int64_t width = shape.memory_width > 0 ? shape.memory_width : shape.hidden;
  return b.value("tower output", quantity::ceil_divide(rows, c.sp), width, 0, c.trains_base);
}

/// Matrices with GELU between them (transformers modeling_llava.py, LlavaMultiModalProjector).
void projector_block(const Context& c, const spec::Tower& tower, bool needs_gradient, Block& block) {
  block.name = "projector";
  BlockBuilder b(c, block);
  Value x = b.input("tower hidden state", c.tokens, c.shape().hidden, needs_gradient);
  if (tower.merged > 1) {
    const std::int64_t rows = quantity::ceil_divide(x.rows, tower.merged);
    x = b.rearrange(x, "merged patches", rows, x.columns * tower.merged, OpKind::permutation);
  }
  for (std::size_t i = 0; i < tower.projector.size(); ++i) {
    const spec::Projection& matrix = tower.projector[i];
    if (i > 0) x = b.activation(x, "projected");
    x.columns = matrix.inputs;
    x = b.linear(x, {Role::projector, matrix.inputs, matrix.outputs, matrix.bias});
  }
  b.output(x);
}

}  // namespace llmcalc::layers
