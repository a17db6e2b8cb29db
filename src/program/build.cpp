#include "llmcalc/program/build.hpp"

#include "program/blocks.hpp"

namespace llmcalc::program {

namespace {

/// Empties a block but keeps its storage.
void clear(Block& block) {
  block.tensors.clear();
  block.ops.clear();
  block.weights.clear();
  block.input = block.output = no_tensor;
  block.checkpointed = false;
}

/// Gradients reach the layers' inputs unless nothing upstream is trained and nothing asks for them; adapters do ask
/// (transformers, enable_input_require_grads).
bool trains_input(spec::Method method) {
  return method != spec::Method::inference && method != spec::Method::forward_only;
}

/// A person who gives only --params means exactly that number; what the assumed shape lacks of it (or has too much) is
/// held as one more vector, so that every walk sees the stated size.
void add_remainder(const spec::Question& question, Program& program) {
  if (!question.stated_parameters) return;
  std::int64_t counted = 0;
  for (const std::uint16_t index : program.sequence) {
    for (const Weight& w : program.blocks[index].weights) counted += w.tied ? 0 : w.whole;
  }
  Weight rest;
  rest.name = "remainder of the stated size";
  rest.elements = rest.whole = rest.active = quantity::in_parameters(*question.stated_parameters) - counted;
  rest.dtype = question.training.precision.weights;
  program.blocks.front().weights.push_back(rest);
}

/// The blocks of the whole model in forward order: embedding, layers (with the bridge between two stacks), head.
void order_blocks(const spec::Model& model, Program& program) {
  const std::size_t kinds = model.kinds.size();
  program.sequence.clear();
  program.sequence.push_back(0);
  for (std::int64_t layer = 0; layer < model.layer_count(); ++layer) {
    const bool crosses = model.encoder_layers > 0 && layer == model.encoder_layers;
    if (crosses) program.sequence.push_back(static_cast<std::uint16_t>(kinds + 2));
    program.sequence.push_back(static_cast<std::uint16_t>(model.layers[static_cast<std::size_t>(layer)] + 1));
  }
  program.sequence.push_back(static_cast<std::uint16_t>(kinds + 1));
}

/// Cuts the sequence into pp * vpp chunks of equally many layers, the first ones taking one more where it does not
/// come out even; the embedding goes to the first chunk and the head to the last.
void cut_chunks(const spec::Layout& layout, Program& program) {
  const std::int64_t chunks = layout.pp * layout.vpp;
  const auto inner = static_cast<std::int64_t>(program.sequence.size()) - 2;
  program.stages = layout.pp;
  program.chunks.clear();
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    std::int64_t end = position + inner / chunks + (i < inner % chunks ? 1 : 0);
    if (i == 0) ++end;
    if (i == chunks - 1) ++end;
    program.chunks.push_back({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(end)});
    position = end;
  }
}

}  // namespace

void build_program(const spec::Question& question, const Profile& profile, Program& program) {
  const Context context(question, profile);
  const auto& model = question.model;
  const std::size_t kinds = model.kinds.size();
  const bool has_bridge = model.encoder_layers > 0;
  program.blocks.resize(has_bridge ? kinds + 3 : kinds + 2);
  for (Block& block : program.blocks) clear(block);

  const bool differentiates = trains_input(question.training.method);
  embedding_block(context, program.blocks[0]);
  for (std::size_t i = 0; i < kinds; ++i) layer_block(context, model.kinds[i], differentiates, program.blocks[i + 1]);
  head_block(context, differentiates, program.blocks[kinds + 1]);
  if (has_bridge) bridge_block(context, program.blocks[kinds + 2]);

  program.tokens = context.tokens;
  order_blocks(model, program);
  cut_chunks(question.layout, program);
  add_remainder(question, program);
}

Program build_program(const spec::Question& question, const Profile& profile) {
  Program program;
  build_program(question, profile, program);
  return program;
}

}  // namespace llmcalc::program
