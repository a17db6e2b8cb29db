#include "program/inner/recomputed_layers.hpp"

#include "llmcalc/quantity/error.hpp"
#include "program/stage_blocks.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace llmcalc::program {

namespace {

/// Calls visit(first, last) for each run of layers that one stage or virtual stage executes without a break.
template <class Visit>
void visit_layers(const Program& program, std::size_t kinds, const Visit& visit) {
  const auto is_layer = [&](std::uint32_t position) {
    return program.sequence[position] >= 1 && program.sequence[position] <= kinds;
  };
  for (const Chunk& chunk : program.chunks) {
    std::uint32_t first = chunk.first;
    for (std::uint32_t position = chunk.first; position < chunk.last; ++position) {
      if (is_layer(position)) continue;
      if (first < position) visit(first, position);
      first = position + 1;
    }
    if (first < chunk.last) visit(first, chunk.last);
  }
}

/// every: torchtitan parallelisms/parallelize_llama.py, selective_ac_option, wraps each n-th layer, as does fms-fsdp
/// (policies/ac_handler.py, for a share of 1/n). block: Megatron-LM core/transformer/transformer_block.py,
/// _checkpointed_forward, counts from the first layer of a stage or virtual stage.
bool is_checkpointed(const spec::Recompute& recompute, std::int64_t layer) {
  const bool by_turns = recompute.layers == spec::RecomputeLayers::every;
  return by_turns ? (layer + 1) % recompute.count == 0 : layer < recompute.count;
}

void spare_layers(const spec::Recompute& recompute, std::size_t kinds, std::size_t first_open, Program& program) {
  visit_layers(program, kinds, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i < last; ++i) {
      if (is_checkpointed(recompute, i - first)) continue;
      program.sequence[i] = static_cast<std::uint16_t>(first_open + program.sequence[i] - 1);
    }
  });
}

/// Blocks that share a checkpoint, and the layers that they are copies of.
struct LayerGroup {
  std::vector<std::uint16_t> layers;
  std::uint16_t first = 0;
};

/// Appends a copy of each layer to the blocks.
/// \throws quantity::BadInput when no index is left for them
LayerGroup copy_layers(std::span<const std::uint16_t> layers, Program& program) {
  if (program.blocks.size() + layers.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw quantity::BadInput("--recompute",
                             "the groups are so large that more than 65,535 layers differ by their place");
  }
  const auto first = static_cast<std::uint16_t>(program.blocks.size());
  const auto end = static_cast<std::uint16_t>(first + layers.size());
  for (const std::uint16_t layer : layers) {
    program.blocks.emplace_back(program.blocks[layer]);
    program.blocks.back().group_first = first;
    program.blocks.back().group_end = end;
  }
  return {{layers.begin(), layers.end()}, first};
}

/// Megatron-LM core/transformer/transformer_block.py, _checkpointed_forward, recompute_method uniform: so many layers
/// at a time, the last group of a stage as many as are left.
void group_layers(std::uint32_t count, std::size_t kinds, Program& program) {
  std::vector<LayerGroup> groups;
  visit_layers(program, kinds, [&](std::uint32_t first, std::uint32_t last) {
    for (; first < last; first += count) {
      const std::span layers(program.sequence.begin() + first, std::min(count, last - first));
      auto known =
          std::ranges::find_if(groups, [&](const LayerGroup& g) { return std::ranges::equal(g.layers, layers); });
      if (known == groups.end()) known = groups.insert(groups.end(), copy_layers(layers, program));
      for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = static_cast<std::uint16_t>(known->first + i);
    }
  });
}

}  // namespace

spec::Recompute by_module(const spec::Question& question, const frameworks::Profile& profile) {
  spec::Recompute recompute = question.training.recompute;
  const std::int64_t sublayers = question.model.shape.writing.sublayers;
  const bool takes_all =
      recompute.policy == spec::RecomputePolicy::full && recompute.layers == spec::RecomputeLayers::all;
  if (!takes_all || sublayers == 1 || !profile.kernels.transformers_modules) return recompute;
  recompute.layers = spec::RecomputeLayers::uniform;
  recompute.count = sublayers;
  return recompute;
}

bool spares_layers(const spec::Recompute& recompute) {
  return recompute.policy == spec::RecomputePolicy::full &&
         (recompute.layers == spec::RecomputeLayers::every || recompute.layers == spec::RecomputeLayers::block);
}

void choose_recomputed_layers(const spec::Recompute& recompute, std::size_t kinds, std::size_t first_open,
                              Program& program) {
  if (spares_layers(recompute)) spare_layers(recompute, kinds, first_open, program);
  if (recompute.layers != spec::RecomputeLayers::uniform) return;
  group_layers(static_cast<std::uint32_t>(recompute.count), kinds, program);
}

namespace {

/// Calls visit(chunk) for the chunks of a stage in forward order, until it returns false.
template <class Visit>
void visit_chunks(const Program& program, std::int64_t stage, const Visit& visit) {
  const auto step = static_cast<std::size_t>(program.stages);
  for (auto i = static_cast<std::size_t>(stage); i < program.chunks.size(); i += step) {
    if (!visit(program.chunks[i])) return;
  }
}

void append(std::vector<BlockRun>& runs, std::uint16_t block) {
  if (!runs.empty() && runs.back().block == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

}  // namespace

std::vector<BlockRun> blocks_of_stage(const Program& program, std::int64_t stage) {
  std::vector<BlockRun> runs;
  visit_chunks(program, stage, [&](const Chunk& chunk) {
    for (std::uint32_t i = chunk.first; i < chunk.last; ++i) append(runs, program.sequence[i]);
    return true;
  });
  return runs;
}

std::vector<StageGroup> stage_groups(const Program& program) {
  std::vector<StageGroup> groups;
  for (std::int64_t stage = 0; stage < program.stages; ++stage) {
    auto runs = blocks_of_stage(program, stage);
    const auto known = std::ranges::find(groups, runs, &StageGroup::runs);
    if (known == groups.end()) {
      groups.push_back({std::move(runs), stage, stage, 1});
    } else {
      known->last = stage;
      ++known->stages;
    }
  }
  return groups;
}

std::int64_t position_of(const Program& program, std::int64_t stage, std::int64_t n) {
  std::int64_t position = 0;
  visit_chunks(program, stage, [&](const Chunk& chunk) {
    const std::int64_t length = std::int64_t{chunk.last} - chunk.first;
    position = chunk.first + n;
    n -= length;
    return n >= 0;
  });
  return position;
}

}  // namespace llmcalc::program
