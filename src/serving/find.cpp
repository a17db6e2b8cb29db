#include "llmcalc/spec/question.hpp"
#include "serving/advice.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::serving {

using formats::Quant;
using spec::CacheType;
using spec::Question;

namespace {

Candidate present(const Question& question, std::string change) { return weigh(question, std::move(change), {}); }

/// The option with the most that the server takes of it, unless it takes none.
std::vector<Candidate> find_most(const Question& question, std::string_view option, std::int64_t most) {
  if (most < 1) return {};
  return {present(question, fmt::format("{} {}", option, most))};
}

std::vector<Candidate> find_gpus(const Question& question) {
  std::vector<Candidate> found;
  constexpr std::int64_t most = 64;
  for (std::int64_t n = 1; n <= most; n *= 2) {
    Question changed = question;
    const bool cards = spec::reads_gguf(question.serving.engine);
    const auto& shape = question.model.shape;
    if (!cards && (shape.heads % n != 0 || shape.ffn % n != 0)) break;
    if (!cards && shape.moe.experts > 0 && shape.moe.expert_ffn % n != 0) break;
    changed.layout = {};
    changed.layout.gpus = n;
    changed.layout.tp = changed.layout.etp = cards ? 1 : n;
    found.push_back(present(changed, cards ? fmt::format("--gpus {}", n) : fmt::format("--gpus {} --tp {}", n, n)));
    if (found.back().carries) break;
  }
  return found;
}

std::vector<Candidate> find_quant(const Question& question) {
  std::vector<Candidate> found;
  for (const Quant quant : ladder(question.serving.engine)) {
    Question changed = question;
    changed.serving.quant = quant;
    found.push_back(present(changed, fmt::format("--quant {}", spec::name_of(quant))));
    if (found.back().carries) break;
  }
  return found;
}

/// Each that has all the options that were said, with weights that it can run: the question's own, or the nearest of
/// its kind.
std::vector<Candidate> find_engine(const Question& question) {
  std::vector<Candidate> found;
  for (const EngineRow& row : all_engines()) {
    Question changed = question;
    changed.serving.engine = row.engine;
    changed.serving.engine_version.clear();
    if (!takes_options(changed.serving)) continue;
    if (!row.keeps(changed.serving.cache)) changed.serving.cache = CacheType::automatic;
    if (!row.runs(changed.serving.quant)) {
      changed.serving.quant = spec::reads_gguf(row.engine) ? Quant::q4_k_m : Quant::awq;
    }
    if (!can_run(changed)) continue;
    found.push_back(present(changed, fmt::format("--engine {} --quant {}", spec::name_of(row.engine),
                                                 spec::name_of(changed.serving.quant))));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::max_concurrency);
  return found;
}

}  // namespace

std::vector<Candidate> find(const Question& question, Find what) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  switch (what) {
    case Find::concurrency: return find_most(question, "--concurrency", capacity.max_concurrency);
    case Find::context: return find_most(question, "--context", capacity.shared_context);
    case Find::gpus: return find_gpus(question);
    case Find::quant: return find_quant(question);
    case Find::engine: break;
  }
  return find_engine(question);
}

std::vector<CapacityCell> capacity_cells(const Question& question) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  constexpr std::int64_t shortest = 1024;
  constexpr std::int64_t most_requests = 256;
  std::vector<CapacityCell> cells;
  for (std::int64_t context = shortest; context / 2 < capacity.max_context; context *= 2) {
    const std::int64_t length = std::min(context, capacity.max_context);
    for (std::int64_t requests = 1; requests <= most_requests; requests *= 2) {
      const auto memory = tightest_rank(deployment, {length, sequences_of_rank(question, requests)});
      const double share = memory.pool > quantity::bytes(0) ? memory.needed / memory.pool : 0.0;
      cells.push_back({length, requests, memory.fits(), share});
    }
  }
  return cells;
}

}  // namespace llmcalc::serving
