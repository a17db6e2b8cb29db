#include "layers/blocks.hpp"
#include "layers/inner/builder.hpp"
#include "layers/inner/parts.hpp"

#include <algorithm>

namespace llmcalc::layers {

namespace {

/// The matrix from hidden state to vocabulary; with tied embeddings its storage is the token table's.
Matrix head_matrix(const Context& c, std::int64_t width) {
  const Resting resting = c.profile.quantized.head ? Resting::as_layers : Resting::as_tables;
  return {Role::head, width, c.shape().vocab, false, Cut::columns, 1, 1, resting};
}

void head_parameters(BlockBuilder& b, const spec::Shape& shape) {
  if (!shape.head_bias) return;
  Weight& bias = b.block().weights[b.vector("head bias", shape.vocab, Cut::columns)];
  if (b.context().saves(Role::head)) bias.trainable = true;
}

/// BERT's pooler: a dense layer on the first position of each sample.
void pool(BlockBuilder& b, const Value& x) {
  Value first = x;
  first.rows = b.context().batch;
  b.linear(first, {Role::pooler, x.columns, x.columns, true});
}

/// BERT's head for masked tokens goes through a dense layer, GELU and norm first, whole on every tensor-parallel rank
/// (Devlin et al. 2018, arXiv:1810.04805; Megatron-LM core/models/bert/bert_lm_head.py). It leads back to the width of
/// a narrow token table (Lan et al. 2019, arXiv:1909.11942).
Value transformed(BlockBuilder& b, const Value& x) {
  const std::int64_t narrow = b.context().shape().embedding_width;
  const Value dense = b.linear(x, {Role::head_transform, x.columns, narrow > 0 ? narrow : x.columns, true});
  return b.norm(b.activation(dense, "transformed"), "head norm");
}

/// A vector of each sample, and a loss on these: scores of pairs, or of a few classes, are too few to count
/// (sentence-transformers models/Pooling.py, losses/MultipleNegativesRankingLoss.py; transformers
/// modeling_xlm_roberta.py, XLMRobertaForSequenceClassification). Their gradient reaches the last hidden states, which
/// the mean over positions keeps.
void loss_on_vectors(BlockBuilder& b, const Value& x) {
  if (b.context().differentiates)
    b.append({.kind = OpKind::loss, .name = "loss on vectors", .inputs = {x.id}, .saved = {x.id}});
}

}  // namespace

void head_block(const Context& c, bool input_needs_gradient, Block& block) {
  const auto& shape = c.shape();
  block.name = "head";
  BlockBuilder b(c, block);
  Value x = b.input("hidden state", c.tokens / c.sp, shape.hidden, input_needs_gradient);
  if (shape.final_norm) x = b.norm(x, "final norm");
  if (shape.pooler) pool(b, x);
  if (shape.headless) return loss_on_vectors(b, x);
  const bool transforms = shape.head_transform || (shape.pooler && c.profile.head.transforms_before);
  if (transforms) x = transformed(b, x);
  if (shape.embedding_width > 0 && !transforms)
    x = b.linear(x, {Role::embedding_out, shape.hidden, shape.embedding_width});
  if (c.training.method == spec::Method::inference) {
    x.rows = c.batch;  // a generation step needs the last position's logits only
    b.linear(x, head_matrix(c, x.columns));
  } else {
    loss(b, x, head_matrix(c, x.columns));
  }
  head_parameters(b, shape);
  if (c.profile.head.eager) {
    for (Op& op : block.ops) op.eager = true;
  }
  for (Weight& w : block.weights) {
    if (w.role != Role::head || w.adapter) continue;
    w.table = true;
    w.tied = shape.tied;
    w.shared = c.shares_table;
  }
}

/// Norm of its own, then the model's head and another loss; the next prediction reads what was normed (Megatron-LM
/// core/transformer/multi_token_prediction.py, MultiTokenPredictionLayer._postprocess; core/models/gpt/gpt_model.py,
/// GPTModel._postprocess).
void further_head_block(const Context& c, Block& block) {
  head_block(c, c.differentiates, block);
  block.name = "further head";
  for (Weight& w : block.weights) w.tied = w.shared = w.role == Role::head;
  const auto multiplies = [&](const Op& op) {
    return op.weight != no_weight && block.weights[op.weight].role == Role::head;
  };
  block.output = std::ranges::find_if(block.ops, multiplies)->inputs[0];
}

/// trl and transformers, AutoModelForSequenceClassification with num_labels=1: a matrix of hidden x 1 without bias.
void score_block(const Context& c, Block& block) {
  const auto& shape = c.shape();
  block.name = "score";
  BlockBuilder b(c, block);
  Value x = b.input("hidden state", c.tokens / c.sp, shape.hidden, c.differentiates);
  if (shape.final_norm) x = b.norm(x, "final norm");
  const Value score = b.linear(x, {Role::score, shape.hidden, 1, false, Cut::none, 1, 1, Resting::as_tables});
  if (c.differentiates) {
    b.append({.kind = OpKind::loss, .name = "value loss", .inputs = {score.id}, .saved = {score.id}});
  }
}

}  // namespace llmcalc::layers
