#include "serving/advice.hpp"

#include "llmcalc/spec/question.hpp"
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

/// A checkpoint that is published in 4 bits gains next to nothing in others, and nobody publishes it in them.
bool is_narrower(const Question& question, Quant quant) {
  constexpr double worth_it = 0.9;
  const bool as_many_bits = formats::facts(quant).bits >= formats::facts(question.serving.quant).bits;
  if (!formats::is_file_type(quant) && as_many_bits) return false;
  Question other = question;
  other.serving.quant = quant;
  return can_run(other) && model_bytes(other) / model_bytes(question) < worth_it;
}

/// Requests within a shorter context.
Question with_context(Question question, std::int64_t context) {
  auto& load = question.serving.load;
  load.context = context;
  load.output = std::min(load.output, context / 2);
  load.prompt = std::min(load.prompt, context - load.output);
  return question;
}

constexpr const char* cache_cost = "8-bit keys and values";

/// The question with keys and values in 8 bits, if its engine keeps such and they are not so yet.
std::optional<Question> with_narrow_cache(Question question) {
  auto& serving = question.serving;
  const CacheType narrow = spec::reads_gguf(serving.engine) ? CacheType::q8_0 : CacheType::fp8;
  if (serving.cache == narrow || !row_of(serving.engine).keeps(narrow)) return std::nullopt;
  serving.cache = narrow;
  return question;
}

std::string cache_words(const Question& question) {
  return fmt::format("--kv-dtype {}", spec::name_of(question.serving.cache));
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
    if (const auto changed = with_narrow_cache(question_)) try_change(*changed, cache_words(*changed), cache_cost);
  }

  void weights() {
    int tried = 0;
    for (const Quant quant : ladder(question_.serving.engine)) {
      if (tried == 2 || !is_narrower(question_, quant)) continue;
      Question changed = question_;
      changed.serving.quant = quant;
      const std::string words = fmt::format("--quant {}", spec::name_of(quant));
      if (!try_change(changed, words, "a quantized checkpoint")) with_cache(changed, words);
      ++tried;
    }
  }

  /// Narrower weights that do not make room alone may do so with a narrower cache, still without another card.
  void with_cache(const Question& narrower, const std::string& words) {
    if (const auto changed = with_narrow_cache(narrower)) {
      try_change(*changed, words + " " + cache_words(*changed), fmt::format("a quantized checkpoint, {}", cache_cost));
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
    if (row_of(question_.serving.engine).profiles_sequences && options.max_sequences.value_or(few + 1) > few) {
      options.max_sequences = few;
      try_change(changed, "--max-seqs 256", "fewer sequences in a step");
    }
  }

  void context() {
    if (present_.max_concurrency > 0 || present_.max_context == 0) return;
    try_change(with_context(question_, present_.max_context), fmt::format("--context {}", present_.max_context),
               "shorter requests");
  }

  /// Layers that a card has no room for stay in the machine's memory: of a mixture its experts, else whole ones, the
  /// fewest that are enough.
  void layers() {
    const EngineRow& row = row_of(question_.serving.engine);
    if (!spec::reads_gguf(row.engine) || present_.max_concurrency > 0) return;
    const auto& options = question_.serving.options;
    const auto layers = question_.model.layer_count();
    if (takes(row, "cpu_experts") && question_.model.shape.moe.experts > 0 && options.cpu_experts == 0) {
      fewest(layers, [&](spec::EngineOptions& changed, std::int64_t away) {
        changed.cpu_experts = away;
        return fmt::format("--cpu-experts {}", away);
      });
    }
    if (options.gpu_layers) return;
    fewest(layers, [&](spec::EngineOptions& changed, std::int64_t away) {
      changed.gpu_layers = layers - away;
      return fmt::format("--gpu-layers {}", layers - away);
    });
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
    const auto count = question_.layout.gpus > 1 ? fmt::format(":{}", question_.layout.gpus) : std::string();
    for (const auto& gpu : larger) {
      changed.gpu = gpu;
      if (take_if_better(weigh(changed, "--gpu " + changed.gpu->id + count, "another accelerator"))) return;
    }
  }

  std::vector<Candidate> take() && { return std::move(found_); }

 private:
  /// The fewest layers that must stay away from the cards. \param leave  has that many stay away, and says so
  template <class Leave>
  void fewest(std::int64_t layers, const Leave& leave) {
    const auto starts = [&](std::int64_t away) {
      Question changed = question_;
      leave(changed.serving.options, away);
      return capacity_of(deploy(changed)).max_concurrency > 0;
    };
    if (!starts(layers)) return;
    std::int64_t enough = layers;
    for (std::int64_t few = 0; enough - few > 1;) {
      const std::int64_t middle = few + (enough - few) / 2;
      (starts(middle) ? enough : few) = middle;
    }
    Question changed = question_;
    const std::string words = leave(changed.serving.options, enough);
    try_change(changed, words, "speed: the rest is read from the machine's memory");
  }

  static constexpr std::int64_t shortest_context = 1024;  ///< tokens: fewer hold no conversation

  const Question& question_;
  const Capacity& present_;
  std::vector<Candidate> found_;
};

}  // namespace

namespace {

/// The largest share of an accelerator that keeps what must be left of it, of an engine that takes a share.
std::optional<Candidate> with_less(const Question& question) {
  if (!row_of(question.serving.engine).reserves) return std::nullopt;
  Question changed = question;
  const auto leaves_enough = [&](std::int64_t thousandths) {
    changed.serving.options.memory_fraction = static_cast<double>(thousandths) / 1000.0;
    const Deployment deployment = deploy(changed);
    return beyond_memory(deployment, tightest_rank(deployment, {deployment.setup.context, 1})).empty();
  };
  if (leaves_enough(999)) return std::nullopt;
  changed.serving.options.memory_fraction = static_cast<double>(largest(999, leaves_enough)) / 1000.0;
  return weigh(changed, fmt::format("--memory-fraction {}", *changed.serving.options.memory_fraction),
               "fewer requests at once");
}

/// Changes that carry a load that comes too fast or is held to too little: a smaller share of the accelerator, narrower
/// weights, and the fewest copies.
std::vector<Candidate> advise_load(const Question& question) {
  std::vector<Candidate> found;
  const auto take = [&](Candidate candidate) {
    if (candidate.carries) found.push_back(std::move(candidate));
    return !found.empty();
  };
  if (auto less = with_less(question)) take(std::move(*less));
  for (const Quant quant : ladder(question.serving.engine)) {
    if (!is_narrower(question, quant)) continue;
    Question changed = question;
    changed.serving.quant = quant;
    if (take(weigh(changed, fmt::format("--quant {}", spec::name_of(quant)), "a quantized checkpoint"))) break;
  }
  take(std::move(find(question, Find::gpus).front()));
  return found;
}

}  // namespace

std::vector<Candidate> advise(const ServingAnswer& answer,
                              const std::function<std::vector<spec::Accelerator>()>& larger) {
  const Question& question = answer.deployment.question;
  const Capacity& capacity = answer.capacity;
  if (!answer.broken_limits.empty()) return advise_load(question);
  const bool carries = capacity.max_concurrency >= question.serving.load.concurrency;
  if (carries || !question.gpu) return {};
  Adviser adviser(question, capacity);
  adviser.options();
  adviser.cache();
  adviser.context();
  adviser.weights();
  adviser.layers();
  adviser.ranks();
  adviser.card(larger());
  return std::move(adviser).take();
}

std::vector<CardAnswer> ask_cards(const Question& question, const std::vector<spec::Accelerator>& cards) {
  std::vector<CardAnswer> answers;
  Question changed = question;
  for (const spec::Accelerator& gpu : cards) {
    changed.gpu = gpu;
    const Deployment deployment = deploy(changed);
    const auto requests = question.serving.load.concurrency;
    answers.push_back({gpu.id, fits(deployment, deployment.setup.context, requests)});
  }
  return answers;
}

}  // namespace llmcalc::serving
