#include "layers/blocks.hpp"
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

void bridge_block(const Context& c, Block& block) {
  const auto& shape = c.shape();
  block.name = "decoder embedding";
  BlockBuilder b(c, block);
  const Value encoded = b.input("encoder hidden state", c.tokens / c.sp, shape.hidden, c.trains_base);
  const Value normed = shape.final_norm ? b.norm(encoded, "encoder final norm") : encoded;
  const Value x = b.value("embedded targets", c.tokens / c.sp, shape.hidden, encoded.width, c.trains_base);
  b.append({.kind = OpKind::embedding,
            .name = "target embedding",
            .inputs = {normed.id},
            .outputs = {x.id},
            .saved = {normed.id}});
  b.output(b.dropout(x, "embedding dropout"));
}

}  // namespace llmcalc::layers
