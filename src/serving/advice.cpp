#include "llmcalc/serving/advice.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace llmcalc::serving {

using formats::Quant;
using spec::CacheType;
using spec::Engine;
using spec::Question;

namespace {

Candidate weigh(const Question& question, std::string change, std::string cost) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  return {
      std::move(change),    std::move(cost),          capacity.max_concurrency > 0,
      capacity.max_context, capacity.max_concurrency, capacity.max_concurrency >= question.serving.load.concurrency};
}

/// Narrower ways to rest, the widest first.
constexpr Quant on_torch[] = {Quant::bf16, Quant::fp8, Quant::awq};
constexpr Quant on_ggml[] = {Quant::f16,    Quant::q8_0,   Quant::q6_k, Quant::q5_k_m,
                             Quant::q4_k_m, Quant::q3_k_m, Quant::q2_k};

std::span<const Quant> ladder(Engine engine) {
  if (spec::reads_gguf(engine)) return on_ggml;
  return on_torch;
}

/// A checkpoint that is published in 4 bits gains next to nothing in others.
bool is_narrower(const Question& question, Quant quant) {
  constexpr double worth_it = 0.9;
  Question other = question;
  other.serving.quant = quant;
  return model_bytes(other) < worth_it * model_bytes(question);
}

/// The same requests within a shorter context.
Question with_context(Question question, std::int64_t context) {
  auto& load = question.serving.load;
  load.context = context;
  load.output = std::min(load.output, context / 2);
  load.prompt = std::min(load.prompt, context - load.output);
  return question;
}

class Adviser {
 public:
  Adviser(const Question& question, const Capacity& present) : question_(question), present_(present) {}

  bool take_if_better(Candidate candidate) {
    const bool helps =
        present_.max_concurrency == 0 ? candidate.starts : candidate.max_concurrency > present_.max_concurrency;
    if (helps) found_.push_back(std::move(candidate));
    return helps;
  }

  /// A change that makes room for shorter requests alone is told with their context, where there is no room for any
  /// now.
  bool try_change(const Question& changed, const std::string& change, const std::string& cost) {
    Candidate candidate = weigh(changed, change, cost);
    const std::int64_t context = candidate.max_context - candidate.max_context % shortest_context;
    if (!candidate.starts && context > 0 && present_.max_context == 0) {
      candidate = weigh(with_context(changed, context), fmt::format("{} --context {}", change, context),
                        cost + ", shorter requests");
    }
    return take_if_better(std::move(candidate));
  }

  void cache() {
    const bool ggml = spec::reads_gguf(question_.serving.engine);
    const CacheType narrow = ggml ? CacheType::q8_0 : CacheType::fp8;
    if (!row_of(question_.serving.engine).keeps(narrow)) return;
    Question changed = question_;
    changed.serving.cache = narrow;
    try_change(changed, fmt::format("--kv-dtype {}", spec::name_of(narrow)), "8-bit keys and values");
  }

  void weights() {
    int tried = 0;
    for (const Quant quant : ladder(question_.serving.engine)) {
      if (tried == 2 || !is_narrower(question_, quant)) continue;
      Question changed = question_;
      changed.serving.quant = quant;
      try_change(changed, fmt::format("--quant {}", spec::name_of(quant)), "a quantized checkpoint");
      ++tried;
    }
  }

  void options() {
    Question changed = question_;
    auto& options = changed.serving.options;
    constexpr double most = 0.95;
    if (row_of(question_.serving.engine).reserves && options.memory_fraction.value_or(0.0) < most) {
      options.memory_fraction = most;
      try_change(changed, "--memory-fraction 0.95", "less room for what is not counted");
      options = question_.serving.options;
    }
    constexpr std::int64_t few = 256;
    if (question_.serving.engine == Engine::vllm && options.max_sequences.value_or(few + 1) > few) {
      options.max_sequences = few;
      try_change(changed, "--max-seqs 256", "fewer sequences in a step");
    }
  }

  void context() {
    if (present_.max_concurrency > 0 || present_.max_context == 0) return;
    try_change(with_context(question_, present_.max_context), fmt::format("--context {}", present_.max_context),
               "shorter requests");
  }

  void ranks() {
    Question changed = question_;
    auto& layout = changed.layout;
    const bool cards = spec::reads_gguf(question_.serving.engine);
    const std::int64_t next = 2 * (cards ? layout.gpus : layout.tp);
    const auto& shape = question_.model.shape;
    if (!cards && (shape.heads % next != 0 || shape.ffn % next != 0)) return;
    layout.gpus *= 2;
    if (!cards) layout.tp = next;
    if (!cards) layout.etp *= 2;
    if (shape.moe.experts > 0 && shape.moe.expert_ffn % layout.etp != 0) return;
    try_change(changed, cards ? fmt::format("--gpus {}", next) : fmt::format("--gpus {} --tp {}", layout.gpus, next),
               "twice the accelerators");
  }

  void card(const std::vector<spec::Accelerator>& larger) {
    Question changed = question_;
    changed.pricing.memory.reset();
    for (const spec::Accelerator& gpu : larger) {
      changed.gpu = gpu;
      if (take_if_better(weigh(changed, "--gpu " + gpu.id, "another accelerator"))) return;
    }
  }

  std::vector<Candidate> take() && { return std::move(found_); }

 private:
  static constexpr std::int64_t shortest_context = 1024;  ///< tokens: fewer hold no conversation

  const Question& question_;
  const Capacity& present_;
  std::vector<Candidate> found_;
};

Candidate present(const Question& question, std::string change) { return weigh(question, std::move(change), {}); }

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

/// Each with weights that it can run: the question's own, or the nearest of its kind.
std::vector<Candidate> find_engine(const Question& question) {
  std::vector<Candidate> found;
  for (const EngineRow& row : all_engines()) {
    Question changed = question;
    changed.serving.engine = row.engine;
    changed.serving.engine_version.clear();
    if (!row.keeps(changed.serving.cache)) changed.serving.cache = CacheType::automatic;
    if (!row.runs(changed.serving.quant)) {
      changed.serving.quant = spec::reads_gguf(row.engine) ? Quant::q4_k_m : Quant::awq;
    }
    found.push_back(present(changed, fmt::format("--engine {} --quant {}", spec::name_of(row.engine),
                                                 spec::name_of(changed.serving.quant))));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::max_concurrency);
  return found;
}

}  // namespace

std::vector<Candidate> advise(const Question& question, const Capacity& capacity,
                              const std::function<std::vector<spec::Accelerator>()>& larger) {
  const bool carries = capacity.max_concurrency >= question.serving.load.concurrency;
  if (carries || !question.gpu) return {};
  Adviser adviser(question, capacity);
  adviser.options();
  adviser.cache();
  adviser.context();
  adviser.weights();
  adviser.ranks();
  adviser.card(larger());
  return std::move(adviser).take();
}

std::vector<Candidate> find(const Question& question, Find what) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  switch (what) {
    case Find::concurrency:
      return {present(question, fmt::format("--concurrency {}", capacity.max_concurrency))};
    case Find::context:
      return {present(question, fmt::format("--context {}", capacity.shared_context))};
    case Find::gpus:
      return find_gpus(question);
    case Find::quant:
      return find_quant(question);
    case Find::engine:
      break;
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
