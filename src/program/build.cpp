#include "program/build.hpp"

#include "frameworks/layout_rules.hpp"
#include "layers/blocks.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/inner/recomputed_layers.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <span>

namespace llmcalc::program {

using spec::Algorithm;
using spec::Method;
using spec::Reference;
using spec::TowerUse;

namespace {

bool asks_reference(const spec::Training& training) {
  return training.reference == Reference::model || training.reference == Reference::base;
}

/// The embedding and a layer of each kind, those of an encoder over its own positions.
void append_layers(const layers::Context& context, const spec::Model& model, std::span<layers::Block> blocks) {
  const layers::Context reading = context.of_encoder();
  layers::embedding_block(reading, blocks[0]);
  for (std::size_t i = 0; i < model.kinds.size(); ++i) {
    const auto& own = spec::is_of_encoder(model, i) ? reading : context;
    layers::layer_block(own, model.kinds[i], context.differentiates, blocks[i + 1]);
  }
}

/// Appends the blocks of the same shape under another method, in the order of the trained model's own.
/// \returns the index of the first
std::size_t append_model(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  const layers::Context context(question, profile);
  const auto& kinds = question.model.kinds;
  const std::size_t first = program.blocks.size();
  program.blocks.resize(first + kinds.size() + 2 + (question.model.encoder_layers > 0 ? 1 : 0));
  append_layers(context, question.model, std::span(program.blocks).subspan(first));
  const std::size_t head = first + 1 + kinds.size();
  layers::head_block(context, context.differentiates, program.blocks[head]);
  if (question.model.encoder_layers > 0) layers::bridge_block(context, program.blocks[head + 1]);
  return first;
}

spec::Question under(const spec::Question& question, Method method) {
  spec::Question further = question;
  further.training.method = method;
  further.training.recompute = {};
  return further;
}

/// All samples of an optimizer step are made at once (trl trainer/grpo_config.py, steps_per_generation).
spec::Question of_generation(const spec::Question& question) {
  spec::Question further = under(question, Method::inference);
  auto& training = further.training;
  training.micro_batch = quantity::product(training.micro_batch, training.grad_accum);
  return further;
}

std::size_t append_score(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  program.blocks.emplace_back();
  layers::score_block(layers::Context(question, profile), program.blocks.back());
  return program.blocks.size() - 1;
}

/// Which block of the model at `first` runs in whose place; layers that a method spares have a block of their own and
/// are of the first kind here.
std::vector<std::uint16_t> in_place_of(std::span<const std::uint16_t> plain, const Program& program, std::size_t first,
                                       std::size_t last_known) {
  std::vector<std::uint16_t> runs(program.blocks.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool is_known = plain[i] <= last_known;
    runs[program.sequence[i]] = static_cast<std::uint16_t>(first + (is_known ? plain[i] : 1));
  }
  return runs;
}

/// Layers with another head: a value model learns what the policy learns of its layers.
std::vector<std::uint16_t> with_head(std::vector<std::uint16_t> runs, const Program& program, std::size_t head) {
  runs[program.sequence.back()] = static_cast<std::uint16_t>(head);
  return runs;
}

std::vector<std::uint16_t> own_blocks(const Program& program) {
  std::vector<std::uint16_t> runs(program.blocks.size());
  for (const std::uint16_t block : program.sequence) runs[block] = block;
  return runs;
}

/// The remainder of a stated size is held by every model that has weights of its own.
void copy_remainder(const spec::Question& question, std::size_t first, Program& program) {
  const auto& outside = program.blocks.front().weights;
  if (!question.stated_parameters || outside.back().role != layers::Role::remainder) return;
  layers::Weight rest = outside.back();
  rest.trainable = false;
  program.blocks[first].weights.push_back(rest);
}

bool has_companions(const spec::Training& training) { return asks_reference(training) || training.makes_samples(); }

/// DPO and KTO: a reference (Rafailov et al. 2023, arXiv:2305.18290 eq. 7). PPO: reference, reward and value model
/// (Ouyang et al. 2022, arXiv:2203.02155 section 3.5 and appendix C). GRPO: the mean reward of a group of samples
/// replaces the value model (Shao et al. 2024, arXiv:2402.03300 section 4.1.1), its rewards are taken to be rules.
void add_companions(const spec::Question& question, const frameworks::Profile& profile,
                    std::span<const std::uint16_t> plain, Program& program) {
  const auto& training = question.training;
  const std::size_t last_known = question.model.kinds.size() + (question.model.encoder_layers > 0 ? 2 : 1);
  const auto value = with_head(own_blocks(program), program, 0);
  const spec::Question frozen = under(question, Method::forward_only);
  const std::size_t model = append_model(frozen, profile, program);
  copy_remainder(question, model, program);
  const auto reference = in_place_of(plain, program, model, last_known);
  if (training.generates()) {
    const std::size_t generator = append_model(of_generation(question), profile, program);
    program.companions.push_back(
        {CompanionRole::generation, false, training.grad_accum, in_place_of(plain, program, generator, last_known)});
  }
  if (asks_reference(training)) {
    program.companions.push_back({CompanionRole::reference, training.reference == Reference::model, 1, reference});
  }
  if (training.algorithm != Algorithm::ppo) return;
  const std::size_t reward_head = append_score(frozen, profile, program);
  program.companions.push_back({CompanionRole::reward, true, 1, with_head(reference, program, reward_head)});
  const std::size_t value_head = append_score(question, profile, program);
  program.companions.push_back({CompanionRole::value, true, 1, with_head(value, program, value_head)});
}

/// Patches are of towers that cut images into them; of a model without any, they are whatever its towers run over.
bool follows_images(const spec::Question& question, const spec::Tower& tower) {
  const auto cuts = [](const spec::Tower& one) { return one.patch_inputs > 0; };
  return cuts(tower) || std::ranges::none_of(question.model.shape.towers, cuts);
}

/// The question that a tower answers: its layers over the patches of one image at a time.
spec::Question of_tower(const spec::Question& question, const spec::Tower& tower) {
  spec::Question inner = question;
  spec::Shape shape = tower.layers;
  shape.vocab = 1;  // it has no table
  inner.model = spec::build_model(std::move(shape));
  inner.stated_parameters.reset();
  inner.layout.cp = 1;
  inner.layout.sp = false;
  auto& training = inner.training;
  training.seq = training.patches > 0 && follows_images(question, tower) ? training.patches : tower.positions;
  training.micro_batch = quantity::product(training.micro_batch, training.images);
  training.batch_of_rank = 0;
  if (training.towers == TowerUse::frozen) training.method = Method::forward_only;
  return inner;
}

/// Appends the blocks of a tower and lists them in the order in which they run.
void append_tower(const spec::Question& question, const frameworks::Profile& profile, const spec::Tower& tower,
                  Program& program, std::vector<std::uint16_t>& order) {
  const spec::Question inner = of_tower(question, tower);
  const layers::Context context(inner, profile);
  const auto append = [&]() -> layers::Block& {
    program.blocks.emplace_back();
    program.blocks.back().tower = true;
    return program.blocks.back();
  };
  const auto first = program.blocks.size();
  layers::tower_embedding_block(context, tower, append());
  for (const auto& kind : inner.model.kinds) layers::layer_block(context, kind, context.differentiates, append());
  order.push_back(static_cast<std::uint16_t>(first));
  for (const std::uint8_t kind : inner.model.layers) order.push_back(static_cast<std::uint16_t>(first + 1 + kind));
  if (tower.projector.empty()) return;
  spec::Question outer = inner;
  outer.training.method = question.training.method;
  const layers::Context projecting(outer, profile);
  layers::projector_block(projecting, tower, context.differentiates, append());
  order.push_back(static_cast<std::uint16_t>(program.blocks.size() - 1));
}

std::vector<std::uint16_t> append_all(const spec::Question& question, const frameworks::Profile& profile,
                                      Program& program) {
  std::vector<std::uint16_t> order;
  for (const auto& tower : question.model.shape.towers) append_tower(question, profile, tower, program, order);
  return order;
}

/// Puts the blocks of every tower behind the embedding, on the first stage. Companions run them without gradients.
/// \pre the program is complete but for its towers
void add_towers(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  if (question.training.towers == TowerUse::absent || question.model.shape.towers.empty()) return;
  const auto order = append_all(question, profile, program);
  const auto added = static_cast<std::uint32_t>(order.size());
  program.sequence.insert(program.sequence.begin() + 1, order.begin(), order.end());
  for (std::size_t i = 0; i < program.chunks.size(); ++i) {
    if (i > 0) program.chunks[i].first += added;
    program.chunks[i].last += added;
  }
  if (program.companions.empty()) return;
  spec::Question forward = question;
  forward.training.method = Method::forward_only;
  const auto beside = append_all(forward, profile, program);
  for (Companion& companion : program.companions) {
    companion.runs.resize(program.blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) companion.runs[order[i]] = beside[i];
  }
}

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
/// core/transformer/transformer_block.py, get_num_layers_to_build). What predicts further tokens stands in the place of
/// layers of the last one (Megatron-Bridge recipes/deepseek/deepseek_v3.py, layout_map).
std::int64_t layers_of_chunk(const spec::Layout& layout, std::int64_t layers, std::int64_t chunk, bool spares_last) {
  const auto& first = layout.first_stage_layers;
  const auto& last = layout.last_stage_layers;
  if (!first && !last) {
    const std::int64_t chunks = layout.pp * layout.vpp;
    const std::int64_t most = quantity::ceil_divide(layers, chunks);
    if (spares_last && most * (chunks - 1) <= layers) return std::min(most, layers - chunk * most);
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
    std::int64_t end = position + layers_of_chunk(layout, counted, i, question.training.mtp_num_layers > 0);
    if (i == 0 && !ends_count) ++end;
    if (i == chunks - 1 && !ends_count) ++end;
    program.chunks.push_back({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(end)});
    position = end;
  }
}

/// Kinds of a layer that predicts further: the last that attends, and the last MLP behind it where layers are one or
/// the other (Nemotron's mtp_hybrid_override_pattern "*E").
std::vector<std::size_t> further_kinds(const spec::Model& model) {
  const auto last = [&](const auto& has) {
    const auto found = std::ranges::find_if(model.layers.rbegin(), model.layers.rend(),
                                            [&](std::uint8_t kind) { return has(model.kinds[kind]); });
    return std::size_t{found == model.layers.rend() ? model.layers.back() : *found};
  };
  const auto attends = [](const spec::LayerKind& kind) {
    return std::holds_alternative<spec::GroupedAttention>(kind.mixer) ||
           std::holds_alternative<spec::LatentAttention>(kind.mixer);
  };
  const auto transforms = [](const spec::LayerKind& kind) { return !std::holds_alternative<spec::NoMlp>(kind.mlp); };
  const std::size_t attention = last(attends);
  if (transforms(model.kinds[attention])) return {attention};
  return {attention, last(transforms)};
}

/// Appends what predicts one token further, and lists it in the order in which it runs.
/// \param repeated  its weights are those of the first
void append_further(const spec::Question& question, const layers::Context& context, bool repeated, Program& program,
                    std::vector<std::uint16_t>& order) {
  const std::size_t first = program.blocks.size();
  const auto append = [&]() -> layers::Block& {
    order.push_back(static_cast<std::uint16_t>(program.blocks.size()));
    return program.blocks.emplace_back();
  };
  layers::further_input_block(context, append());
  for (const std::size_t kind : further_kinds(question.model))
    layers::layer_block(context, question.model.kinds[kind], context.differentiates, append());
  layers::further_head_block(context, append());
  for (std::size_t i = first; repeated && i < program.blocks.size(); ++i) {
    for (layers::Weight& w : program.blocks[i].weights) w.tied = w.shared = true;
  }
}

/// Puts what predicts further tokens between the layers and the head, on the last stage (Megatron-LM
/// core/transformer/multi_token_prediction.py, mtp_on_this_rank).
void add_further_tokens(const spec::Question& question, const layers::Context& context, Program& program) {
  const spec::Training& training = question.training;
  std::vector<std::uint16_t> order;
  for (std::int64_t i = 0; i < training.mtp_num_layers; ++i)
    append_further(question, context, i > 0 && training.mtp_use_repeated_layer, program, order);
  program.sequence.insert(program.sequence.end() - 1, order.begin(), order.end());
  program.chunks.back().last += static_cast<std::uint32_t>(order.size());
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
  append_layers(context, model, program.blocks);
  layers::head_block(context, differentiates, program.blocks[kinds + 1]);
  if (has_bridge) layers::bridge_block(context, program.blocks[kinds + 2]);

  for (std::size_t i = 0; i < open; ++i) {
    const auto own = spec::is_of_encoder(model, i) ? context.of_encoder() : context;
    layers::layer_block(own, model.kinds[i], differentiates, program.blocks[first_open + i]);
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
  add_further_tokens(question, context, program);
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
