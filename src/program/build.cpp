#include "program/build.hpp"

#include "frameworks/layout_rules.hpp"
#include "layers/blocks.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/inner/companions.hpp"
#include "program/inner/recomputed_layers.hpp"
#include "program/inner/towers.hpp"

#include <algorithm>

namespace llmcalc::program {

namespace {

/// Empties a block but keeps its storage.
void clear(layers::Block& block) {
  block.tensors.clear();
  block.ops.clear();
  block.weights.clear();
  block.input = block.output = layers::no_tensor;
  block.held_by_loop = quantity::bytes(0);
  block.checkpointed = false;
  block.group_first = block.group_end = 0;
}

/// A person who gives only --params means exactly that number; what the assumed shape lacks of it is held as one more
/// matrix beside the layers', so that every walk sees the stated size.
void add_remainder(const spec::Question& question, bool trains_base, Program& program) {
  if (!question.stated_parameters) return;
  std::int64_t counted = 0;
  for (const std::uint16_t index : program.sequence) {
    for (const layers::Weight& w : program.blocks[index].weights) counted += w.tied ? 0 : w.whole;
  }
  constexpr auto role = layers::Role::remainder;
  layers::Weight rest{.role = role, .name = spec::label_of(role)};
  rest.whole = rest.active = quantity::in_parameters(*question.stated_parameters) - counted;
  if (rest.whole <= 0) return;
  rest.elements = quantity::ceil_divide(rest.whole, question.layout.tp);
  rest.rows = question.model.shape.hidden;
  rest.columns = rest.elements / rest.rows;
  rest.dtype = question.training.precision.weights;
  rest.trainable = trains_base;
  program.blocks.front().weights.push_back(rest);
}

/// The blocks of the whole model in forward order: embedding, layers (with the bridge between two stacks), head.
/// \param unprompted  leading layers that run without gradients
void order_blocks(const spec::Model& model, std::int64_t unprompted, Program& program) {
  const std::size_t kinds = model.kinds.size();
  program.sequence.clear();
  program.sequence.push_back(0);
  for (std::int64_t layer = 0; layer < model.layer_count(); ++layer) {
    const bool crosses = model.encoder_layers > 0 && layer == model.encoder_layers;
    if (crosses) program.sequence.push_back(static_cast<std::uint16_t>(kinds + 2));
    const auto block = static_cast<std::uint16_t>(model.layers[static_cast<std::size_t>(layer)] + 1);
    program.sequence.push_back(layer < unprompted ? static_cast<std::uint16_t>(program.blocks.size() - 1) : block);
  }
  program.sequence.push_back(static_cast<std::uint16_t>(kinds + 1));
}

/// Layers of one of pp * vpp chunks: equally many, the first ones taking one more where it does not come out even.
/// Where the first or last stage has a number of its own, the other stages share the rest (Megatron-LM
/// core/transformer/transformer_block.py, get_num_layers_to_build).
std::int64_t layers_of_chunk(const spec::Layout& layout, std::int64_t layers, std::int64_t chunk) {
  const auto& first = layout.first_stage_layers;
  const auto& last = layout.last_stage_layers;
  if (!first && !last) {
    const std::int64_t chunks = layout.pp * layout.vpp;
    return layers / chunks + (chunk < layers % chunks ? 1 : 0);
  }
  const std::int64_t stage = chunk % layout.pp;
  if (first && stage == 0) return *first / layout.vpp;
  if (last && stage == layout.pp - 1) return *last / layout.vpp;
  const std::int64_t others = layout.pp - (first ? 1 : 0) - (last ? 1 : 0);
  return (layers - first.value_or(0) - last.value_or(0)) / (others * layout.vpp);
}

/// Cuts the sequence into chunks; the embedding goes to the first of them and the head to the last, in place of a
/// layer where both count as one.
void cut_chunks(const spec::Question& question, Program& program) {
  const spec::Layout& layout = question.layout;
  const std::int64_t chunks = layout.pp * layout.vpp;
  const auto whole = static_cast<std::int64_t>(program.sequence.size());
  const bool ends_count = frameworks::counts_ends_as_layers({question.model.shape, question.training, layout});
  const std::int64_t counted = ends_count ? whole : whole - 2;
  program.stages = layout.pp;
  program.chunks.clear();
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < chunks; ++i) {
    std::int64_t end = position + layers_of_chunk(layout, counted, i);
    if (i == 0 && !ends_count) ++end;
    if (i == chunks - 1 && !ends_count) ++end;
    program.chunks.push_back({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(end)});
    position = end;
  }
}

/// Layers that come before everything trained: autograd keeps nothing of them.
void frozen_block(const layers::Context& context, const spec::LayerKind& kind, layers::Block& block) {
  layers::Context frozen = context;
  frozen.differentiates = false;
  layers::layer_block(frozen, kind, false, block);
}

}  // namespace

void build_program(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  const layers::Context context(question, profile);
  const auto& model = question.model;
  const std::size_t kinds = model.kinds.size();
  const bool has_bridge = model.encoder_layers > 0;
  const std::int64_t unprompted = std::min(profile.adapters.prompt_layers_start, model.layer_count());
  const std::size_t first_open = kinds + 2 + (has_bridge ? 1 : 0);
  const std::size_t open = spares_layers(question.training.recompute) ? kinds : 0;
  program.blocks.resize(first_open + open + (unprompted > 0 ? 1 : 0));
  for (layers::Block& block : program.blocks) clear(block);

  // Gradients reach the layers' inputs even where nothing upstream is trained: adapters ask for them (transformers,
  // enable_input_require_grads).
  const bool differentiates = context.differentiates;
  layers::embedding_block(context, program.blocks[0]);
  for (std::size_t i = 0; i < kinds; ++i)
    layers::layer_block(context, model.kinds[i], differentiates, program.blocks[i + 1]);
  layers::head_block(context, differentiates, program.blocks[kinds + 1]);
  if (has_bridge) layers::bridge_block(context, program.blocks[kinds + 2]);

  for (std::size_t i = 0; i < open; ++i) {
    layers::layer_block(context, model.kinds[i], differentiates, program.blocks[first_open + i]);
    program.blocks[first_open + i].checkpointed = false;
  }
  if (unprompted > 0) frozen_block(context, model.kinds[model.layers.front()], program.blocks.back());

  program.tokens = context.tokens;
  order_blocks(model, unprompted, program);
  cut_chunks(question, program);
  const bool companions = has_companions(question.training);
  const std::vector<std::uint16_t> plain = companions ? program.sequence : std::vector<std::uint16_t>();
  choose_recomputed_layers(by_module(question, profile), kinds, first_open, program);
  add_remainder(question, context.trains_base, program);
  program.companions.clear();
  if (companions) add_companions(question, profile, plain, program);
  add_towers(question, profile, program);
}

Program build_program(const spec::Question& question, const frameworks::Profile& profile) {
  Program program;
  build_program(question, profile, program);
  return program;
}

}  // namespace llmcalc::program
