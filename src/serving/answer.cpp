#include "serving/answer.hpp"

#include "llmcalc/spec/question.hpp"
#include "program/count.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/notes.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

/// vLLM v1/worker/utils.py, request_memory: it refuses to start where others have taken what it would ask for.
bool finds_too_little(const Deployment& deployment, const RankMemory& memory) {
  return deployment.question.serving.engine == spec::Engine::vllm && memory.limit > memory.capacity;
}

}  // namespace

bool starts(const Deployment& deployment, const RankMemory& memory) {
  return memory.fits() && !finds_too_little(deployment, memory);
}

namespace {

/// The smallest share with which one request of the context would start, in thousandths: of what it is a share is the
/// engine's business, so the engine is asked.
std::string smallest_fraction(const ServingAnswer& answer) {
  if (!row_of(answer.deployment.question.serving.engine).reserves) return {};
  Deployment changed = answer.deployment;
  const auto memory_at = [&](int thousandths) {
    changed.setup.memory_fraction = thousandths / 1000.0;
    return tightest_rank(changed, {changed.setup.context, 1});
  };
  int low = 0;
  int high = 999;
  if (!memory_at(high).fits()) return {};
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (memory_at(middle).fits() ? high : low) = middle;
  }
  if (!starts(changed, memory_at(high))) return {};
  return fmt::format("; --memory-fraction {:.3f} would do", high / 1000.0);
}

std::string reason_of(const ServingAnswer& answer) {
  const RankMemory& memory = answer.memory;
  if (finds_too_little(answer.deployment, memory)) {
    return fmt::format("free memory: {} asked for, {} free", quantity::format_gib(memory.limit),
                       quantity::format_gib(memory.capacity));
  }
  if (memory.pool <= quantity::bytes(0)) {
    return fmt::format("weights and what stands beside them leave no room for the cache: {} of {}",
                       quantity::format_gib(memory.held()), quantity::format_gib(memory.limit));
  }
  return fmt::format("one request of {} tokens needs {} of cache, {} are left", answer.capacity.context,
                     quantity::format_gib(memory.needed), quantity::format_gib(memory.pool));
}

void judge(ServingAnswer& answer) {
  if (total_memory(answer.deployment.question) == quantity::bytes(0)) return;
  answer.verdict = starts(answer.deployment, answer.memory) ? ServingVerdict::fits : ServingVerdict::does_not_fit;
  if (answer.verdict == ServingVerdict::does_not_fit) answer.reason = reason_of(answer) + smallest_fraction(answer);
}

/// Of the model on one rank: what several hold a copy of counts once.
std::int64_t parameters_of(const spec::Question& question) {
  spec::Question whole = question;
  whole.layout = {};
  const auto program = forward_program(whole, {});
  return program::count_parameters(program).total;
}

Bytes states_of(const Deployment& deployment, const std::vector<CacheGroup>& groups, std::int64_t sequences) {
  return quantity::sum_of(groups, [&](const CacheGroup& group) {
    return state_bytes(deployment.question, group.layer) * (group.layers * sequences);
  });
}

Bytes used(const RankMemory& memory, bool reserves) {
  return memory.held() + (reserves ? std::max(memory.pool, memory.needed) : memory.needed) + memory.beside;
}

/// Where all layers have windows a token takes room until it is out of their reach.
void take_bytes_per_token(const std::vector<CacheGroup>& groups, spec::CacheType type, ServingAnswer& answer) {
  answer.bytes_per_token = bytes_per_token(groups, type);
  if (answer.bytes_per_token > quantity::bytes(0)) return;
  answer.bytes_per_token = bytes_within_windows(groups, type);
  for (const CacheGroup& group : groups) answer.reach = std::max(answer.reach, group.layer.window);
}

bool reserves(const ServingAnswer& answer) { return row_of(answer.deployment.question.serving.engine).reserves; }

std::vector<RankMemory> all_ranks(const Deployment& deployment, const Demand& demand) {
  std::vector<RankMemory> ranks;
  const std::size_t count = rank_count(deployment);
  if (count == 1) return ranks;
  const EngineRow& row = row_of(deployment.question.serving.engine);
  for (std::size_t rank = 0; rank < count; ++rank) {
    ranks.push_back(row.memory(deployment, rank, demand));
  }
  return ranks;
}

}  // namespace

ServingAnswer serve(const spec::Question& question) {
  check_abilities(question);
  ServingAnswer answer;
  answer.deployment = deploy(question);
  const Deployment& deployment = answer.deployment;
  const auto requests = question.gpu ? 1 : sequences_of_rank(question, question.serving.load.concurrency);
  answer.memory = tightest_rank(deployment, {deployment.setup.context, requests});
  answer.ranks = all_ranks(deployment, {deployment.setup.context, requests});
  answer.capacity = capacity_of(deployment);
  answer.parameters = parameters_of(question);
  answer.model = model_bytes(question);
  if (spec::reads_gguf(question.serving.engine)) answer.file = file_bytes(question);
  const auto& groups = deployment.stages.front().cache;
  take_bytes_per_token(groups, deployment.setup.cache, answer);
  answer.state = states_of(deployment, groups, deployment.setup.slots);
  judge(answer);
  if (answer.verdict == ServingVerdict::fits && !uses_processor(question)) answer.speed = speed_of(deployment);
  answer.notes = notes_on(answer);
  return answer;
}

Bytes device_total(const ServingAnswer& answer) { return used(answer.memory, reserves(answer)); }

Bytes device_total_of_all(const ServingAnswer& answer) {
  auto sum = quantity::bytes(0);
  const Demand demand{answer.deployment.setup.context, 1};
  const EngineRow& row = row_of(answer.deployment.question.serving.engine);
  for (std::size_t rank = 0; rank < rank_count(answer.deployment); ++rank) {
    sum += used(row.memory(answer.deployment, rank, demand), row.reserves);
  }
  return spec::reads_gguf(answer.deployment.question.serving.engine) ? sum : sum * answer.deployment.question.layout.tp;
}

}  // namespace llmcalc::serving
