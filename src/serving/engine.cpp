#include "serving/engine.hpp"

#include "llmcalc/spec/question.hpp"
#include "quantity/text.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/extras.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace llmcalc::serving {

using quantity::Bytes;

std::span<const EngineRow> all_engines() {
  static constexpr std::array rows{vllm_row, sglang_row, trtllm_row, llama_cpp_row, ollama_row, transformers_row};
  return rows;
}

const EngineRow& row_of(spec::Engine engine) { return *std::ranges::find(all_engines(), engine, &EngineRow::engine); }

EngineRelease parse_release(std::string_view text) {
  while (!text.empty() && !quantity::is_digit(text.front())) text.remove_prefix(1);
  EngineRelease release;
  release.major = quantity::take_number<std::int64_t>(text).value_or(0);
  if (text.empty() || (text.front() != '.' && text.front() != '-')) return release;
  text.remove_prefix(1);
  release.minor = quantity::take_number<std::int64_t>(text).value_or(0);
  return release;
}

Bytes RankMemory::held() const {
  auto sum = quantity::bytes(0);
  for (const MemoryLine& holding : holdings) sum += holding.size;
  return sum;
}

Deployment deploy(const spec::Question& question) {
  const spec::Question rank = rank_question(question);
  const auto program = forward_program(question, {.fuses_projections = false});
  Deployment deployment{question, row_of(question.serving.engine).setup(question), {}, kept_by_kind(rank, program), {}};
  for (std::int64_t stage = 0; stage < program.stages; ++stage) {
    Stage held{stage_weights(rank, program, stage), cache_groups(rank, program, stage), {}, {}};
    held.adapters = adapter_bytes(rank, program, stage);
    deployment.stages.push_back(std::move(held));
  }
  add_draft(rank, deployment);
  return deployment;
}

std::size_t rank_count(const Deployment& deployment) {
  if (!spec::reads_gguf(deployment.question.serving.engine)) return deployment.stages.size();
  return static_cast<std::size_t>(deployment.question.layout.gpus);
}

RankMemory tightest_rank(const Deployment& deployment, const Demand& demand) {
  const EngineRow& row = row_of(deployment.question.serving.engine);
  RankMemory tightest = row.memory(deployment, 0, demand);
  for (std::size_t rank = 1; rank < rank_count(deployment); ++rank) {
    RankMemory other = row.memory(deployment, rank, demand);
    if (other.pool - other.needed < tightest.pool - tightest.needed) tightest = std::move(other);
  }
  return tightest;
}

Bytes total_memory(const spec::Question& question) {
  if (question.pricing.memory) return *question.pricing.memory;
  if (!question.gpu) return quantity::bytes(0);
  // A usable size that was read from a card is without what the driver keeps, as is what a person states.
  const Bytes kept = question.gpu->usable_verified ? quantity::bytes(0) : question.gpu->generation.driver_keeps;
  return question.gpu->memory_usable - kept;
}

Bytes visible_memory(const spec::Question& question) {
  return std::max(total_memory(question) - question.serving.other_usage, quantity::bytes(0));
}

}  // namespace llmcalc::serving
