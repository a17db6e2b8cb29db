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

bool trains_input(spec::Method method) {
  return method == spec::Method::full || method == spec::Method::galore || method == spec::Method::prompt;
}

/// A person who gives only --params means exactly that number; what the assumed shape lacks of it (or has too much) is
/// held as one more vector, so that every walk sees the stated size.
void add_remainder(const spec::Question& question, Program& program) {
  if (!question.stated_parameters) return;
  std::int64_t counted = 0;
  for (const std::uint16_t index : program.sequence) {
    for (const Weight& w : program.blocks[index].weights) counted += w.shared ? 0 : w.whole;
  }
  Weight rest;
  rest.name = "remainder of the stated size";
  rest.elements = rest.whole = rest.active = quantity::in_parameters(*question.stated_parameters) - counted;
  rest.dtype = question.training.precision.weights;
  program.blocks.front().weights.push_back(rest);
}

}  // namespace

void build_program(const spec::Question& question, const Profile& profile, Program& program) {
  const Context context(question, profile);
  const auto& model = question.model;
  const std::size_t kinds = model.kinds.size();
  const bool has_bridge = model.encoder_layers > 0;
  const std::size_t head = kinds + 1;
  const std::size_t bridge = kinds + 2;
  program.blocks.resize(has_bridge ? kinds + 3 : kinds + 2);
  for (Block& block : program.blocks) clear(block);

  const bool differentiates = trains_input(question.training.method);
  embedding_block(context, program.blocks[0]);
  for (std::size_t i = 0; i < kinds; ++i) layer_block(context, model.kinds[i], differentiates, program.blocks[i + 1]);
  head_block(context, differentiates, program.blocks[head]);
  if (has_bridge) bridge_block(context, program.blocks[bridge]);

  program.tokens = context.tokens;
  program.sequence.clear();
  program.sequence.push_back(0);
  for (std::int64_t layer = 0; layer < model.layer_count(); ++layer) {
    if (has_bridge && layer == model.encoder_layers) program.sequence.push_back(static_cast<std::uint16_t>(bridge));
    program.sequence.push_back(static_cast<std::uint16_t>(model.layers[static_cast<std::size_t>(layer)] + 1));
  }
  program.sequence.push_back(static_cast<std::uint16_t>(head));
  add_remainder(question, program);
}

Program build_program(const spec::Question& question, const Profile& profile) {
  Program program;
  build_program(question, profile, program);
  return program;
}

}  // namespace llmcalc::program
