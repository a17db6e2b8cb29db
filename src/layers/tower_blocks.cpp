#include "layers/blocks.hpp"
#include "layers/inner/attention.hpp"

namespace llmcalc::layers {

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
