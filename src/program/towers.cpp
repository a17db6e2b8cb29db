#include "program/inner/towers.hpp"

#include "layers/blocks.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::program {

namespace {

using spec::Method;
using spec::TowerUse;

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

}  // namespace

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

}  // namespace llmcalc::program
