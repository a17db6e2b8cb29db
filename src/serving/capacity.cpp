#include "serving/capacity.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>

namespace llmcalc::serving {

using quantity::product;

namespace {

/// Beyond any sequence and any load; what holds for so many holds for all.
constexpr std::int64_t most = std::int64_t{1} << 36;

/// Positions that the model was built for are its limit, unless more were asked for.
std::int64_t longest_asked(const Deployment& deployment) {
  const std::int64_t built_for = deployment.question.model.shape.max_position;
  return built_for > 0 ? std::max(built_for, deployment.setup.context) : most;
}

std::int64_t copies(const spec::Question& question) {
  return product(question.layout.dp, question.serving.layout.attention_dp);
}

/// Whether a step takes so many sequences at most, whatever there is room for.
bool bounded(const Deployment& deployment) {
  return row_of(deployment.question.serving.engine).reserves || deployment.stages.front().cache.empty();
}

/// True if one sequence more than there are would find no place for its states.
bool lacks_places(const Deployment& deployment, const Capacity& capacity) {
  const std::int64_t next = capacity.max_concurrency / copies(deployment.question) + 1;
  return !tightest_rank(deployment, {capacity.context, next}).seated;
}

std::string binding_of(const Deployment& deployment, const Capacity& capacity) {
  if (capacity.max_context == 0) return "the weights and what stands beside them";
  if (lacks_places(deployment, capacity)) return "places for the states of recurrent layers";
  const std::int64_t all = product(deployment.setup.max_sequences, copies(deployment.question));
  if (capacity.max_concurrency >= all && bounded(deployment)) return "max_seqs";
  return "memory for the cache";
}

/// Before 0.21 vLLM logged blocks over groups, which understates a pool that windows share (v1/core/kv_cache_utils.py).
bool counts_by_group(const Deployment& deployment) {
  return deployment.setup.release < row_of(deployment.question.serving.engine).counts_by_length;
}

std::int64_t pages_of(const RankMemory& memory) {
  std::int64_t pages = 0;
  for (const BlockGroup& group : memory.groups) pages += group.pages;
  return std::max<std::int64_t>(pages, 1);
}

/// Positions that the pool holds of sequences as long as the context.
std::int64_t tokens_in(const Deployment& deployment, const RankMemory& memory, std::int64_t length) {
  const bool alike = std::ranges::all_of(memory.groups, [&](const BlockGroup& each) {
    const Reach reach = each.group.layer.reach;
    return reach == Reach::full || (reach == Reach::state && memory.seats);
  });
  if (alike && reserves(deployment)) return product(memory.blocks, memory.block);
  if (counts_by_group(deployment)) return product(memory.blocks / pages_of(memory), memory.block);
  return static_cast<std::int64_t>(memory.sequences_in_pool * static_cast<double>(length));
}

}  // namespace

bool fits(const Deployment& deployment, std::int64_t length, std::int64_t concurrency) {
  return tightest_rank(deployment, {length, sequences_of_rank(deployment.question, concurrency)}).fits();
}

Capacity capacity_of(const Deployment& deployment) {
  const auto& load = deployment.question.serving.load;
  Capacity capacity;
  capacity.context = deployment.setup.context;
  const std::int64_t longest = longest_asked(deployment);
  capacity.max_context = largest(longest, [&](std::int64_t n) { return fits(deployment, n, 1); });
  capacity.shared_context = largest(longest, [&](std::int64_t n) { return fits(deployment, n, load.concurrency); });
  const auto at_once = [&](std::int64_t n) { return tightest_rank(deployment, {capacity.context, n}).fits(); };
  const std::int64_t limit = bounded(deployment) ? deployment.setup.max_sequences : most;
  capacity.max_concurrency = largest(limit, at_once) * copies(deployment.question);
  capacity.running = std::min(load.concurrency, capacity.max_concurrency);
  capacity.queued = load.concurrency - capacity.running;
  capacity.cache_tokens = tokens_in(deployment, tightest_rank(deployment, {capacity.context, 1}), capacity.context);
  capacity.binding = binding_of(deployment, capacity);
  return capacity;
}

}  // namespace llmcalc::serving
