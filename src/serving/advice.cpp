#include "serving/advice.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"
#include "serving/speed.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace llmcalc::serving {

using formats::Quant;
using spec::CacheType;
using spec::Question;

namespace {

Question quantized(Question question, Quant quant) {
  question.serving.quant = quant;
  return question;
}

/// A checkpoint that is published in 4 bits gains next to nothing in others, and nobody publishes it in them.
bool is_narrower(const Question& question, Quant quant) {
  constexpr double worth_it = 0.9;
  const bool as_many_bits = formats::facts(quant).bits >= formats::facts(question.serving.quant).bits;
  if (!formats::is_file_type(quant) && as_many_bits) return false;
  const Question other = quantized(question, quant);
  return can_run(other) && model_bytes(other) / model_bytes(question) < worth_it;
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

/// Tokens that a conversation has at least: what Ollama gives one on the smallest cards (envconfig/config.go,
/// OLLAMA_CONTEXT_LENGTH: "default: 4k/32k/256k based on VRAM").
constexpr std::int64_t conversation = 4096;

/// Dollars an hour of all accelerators; 0 where nobody knows a price.
double hourly(const Question& question) {
  const auto price = price_of(question);
  return price ? quantity::in_dollars(*price) * static_cast<double>(question.layout.gpus) : 0;
}

std::string quant_words(Quant quant) { return fmt::format("--quant {}", spec::name_of(quant)); }
constexpr const char* quant_cost = "a quantized checkpoint";
constexpr const char* quant_cost_and = "a quantized checkpoint, ";

class Adviser {
 public:
  Adviser(const Question& question, const Capacity& present) : question_(question), present_(present) {}

  /// A change that makes room for shorter requests alone is told with their context, where there is no room for any now
  /// or nobody said how long several are. \return  whether it keeps what was asked
  bool try_change(const Question& changed, const std::string& change, const std::string& cost, int parts = 1) {
    Weighed weighed = weighed_as_asked(changed, change, cost);
    const bool none_now = present_.max_context == 0;
    const spec::Load& load = question_.serving.load;
    const bool may_shorten = load.context == 0 && load.concurrency > 1;
    if (none_now ? !weighed.candidate.starts : may_shorten && !weighed.keeps()) {
      const std::int64_t context = longest(capacity_of(deploy(changed)));
      if (context >= (none_now ? shortest_context : conversation))
        weighed = shorter(changed, context - context % shortest_context, change + " ", cost + ", shorter requests");
      if (weighed.candidate.starts) weighed.parts = parts;
    }
    return take_if_better(std::move(weighed));
  }

  bool cache(const Question& question, const std::string& words, const std::string& cost) {
    const auto changed = with_narrow_cache(question);
    const int parts = words.empty() ? 1 : 2;
    return changed && try_change(*changed, words + cache_words(*changed), cost + cache_cost, parts);
  }

  /// Narrower weights, if need be with a narrower cache: two that keep what was asked are a choice.
  void weights() {
    int kept = 0;
    for (const Quant quant : ladder(question_.serving.engine)) {
      if (kept == 2 || !is_narrower(question_, quant)) continue;
      const Question changed = quantized(question_, quant);
      const std::string words = quant_words(quant);
      if (try_change(changed, words, quant_cost) || cache(changed, words + " ", quant_cost_and)) ++kept;
    }
  }

  void options() {
    constexpr std::int64_t few = 256;
    constexpr std::int64_t small_step = 2048;
    const EngineRow& row = row_of(question_.serving.engine);
    const auto attempt = [&](const auto& member, const auto& value, const char* words, const char* cost) {
      Question changed = question_;
      changed.serving.options.*member = value;
      try_change(changed, words, cost);
    };
    if (row.reserves && question_.serving.options.memory_fraction.value_or(0.0) < 0.95)
      attempt(&spec::EngineOptions::memory_fraction, 0.95, "--memory-fraction 0.95",
              "less room for what is not counted");
    if (row.profiles_sequences && question_.serving.options.max_sequences.value_or(few + 1) > few)
      attempt(&spec::EngineOptions::max_sequences, few, "--max-seqs 256", "fewer sequences in a step");
    if (row.reserves && takes(row, "batched_tokens") && deploy(question_).setup.batched_tokens > small_step)
      attempt(&spec::EngineOptions::batched_tokens, small_step, "--batched-tokens 2048", "prompts in more steps");
  }

  void text_alone() {
    if (!spec::sees(question_)) return;
    Question changed = question_;
    changed.training.towers = spec::TowerUse::absent;
    try_change(changed, "--text-only 1", "no images");
  }

  /// Change to an engine whose files are narrower. Whole layers in host memory make it slow, which comes last.
  void engine(const Question& other) {
    constexpr int behind_options = 1;
    constexpr int last = 3;
    const bool is_slow = deploy(other).setup.host_layers > 0;
    Weighed weighed = weighed_as_asked(other, fmt::format("--engine {}", spec::name_of(other.serving.engine)),
                                       fmt::format("a file in {}", spec::name_of(other.serving.quant)));
    weighed.parts = is_slow ? last : behind_options;
    take_if_better(std::move(weighed));
  }

  /// Requests as long as there is room for, where there is none for those that are, and of which all run at once, where
  /// nobody said how long they are.
  void context() {
    const std::int64_t context = longest(present_);
    const bool is_of_all = context < present_.max_context;
    if (present_.max_context == 0 || (present_.max_concurrency > 0 && !is_of_all)) return;
    Weighed weighed = shorter(question_, context, "", "shorter requests");
    weighed.shortens_only = true;
    take_if_better(std::move(weighed));
  }

  /// Layers that a card has no room for stay in the machine's memory, where the engine does not see to that by itself.
  void layers() {
    const EngineRow& row = row_of(question_.serving.engine);
    Deployment deployment = deploy(question_);
    if (!spec::reads_gguf(row.engine) || present_.max_concurrency > 0) return;
    deployment.setup.moves = takes(row, "cpu_experts") ? Moves::experts : Moves::layers;
    leave_layers(deployment);
    Question changed = question_;
    auto& options = changed.serving.options;
    say_placement(deployment, options);
    std::string words;
    if (options.gpu_layers) words = fmt::format("--gpu-layers {} ", *options.gpu_layers);
    if (options.cpu_experts > 0) words += fmt::format("--cpu-experts {} ", options.cpu_experts);
    if (!words.empty())
      try_change(changed, std::string(quantity::trim(words)), "speed: the rest is read from the machine's memory");
  }

  /// The fewest accelerators on which a copy keeps what was asked, and with narrower weights fewer still. Copies on
  /// accelerators that are there already are given up first.
  void ranks() {
    std::int64_t most = most_accelerators;
    const auto take = [&](const Question& question, const std::string& words, const std::string& cost) {
      const std::int64_t found = spread(question, words, cost, most);
      if (found > 0) most = found - 1;
    };
    take(question_, "", "");
    for (const Quant quant : ladder(question_.serving.engine)) {
      if (is_narrower(question_, quant) && !keeps_with(quant))
        take(quantized(question_, quant), quant_words(quant) + " ", quant_cost_and);
    }
  }

  void card(const std::vector<spec::ProposedAccelerator>& larger) {
    Question changed = question_;
    changed.pricing.memory.reset();
    const auto count = question_.layout.gpus > 1 ? fmt::format(":{}", question_.layout.gpus) : std::string();
    std::optional<Weighed> first;
    for (const auto& gpu : larger) {
      changed.gpu = *gpu;
      changed.layout.nodes = spec::usual_nodes(changed.layout.gpus, spec::accelerators_per_node(*gpu));
      if (!can_run(changed) || changed.layout.nodes > question_.layout.nodes) continue;
      Weighed weighed = weighed_as_asked(changed, "--gpu " + changed.gpu->id + count, "another accelerator");
      if (!weighed.candidate.starts || (first && !weighed.keeps())) continue;
      first = std::move(weighed);
      if (first->keeps()) break;
    }
    if (first) take_if_better(*std::move(first));
  }

  /// Changes that keep the question stand before those that take from it, of which the longest requests; then the
  /// accelerators that are there before others, of those with shorter requests what changes least, and then what costs
  /// less an hour where all prices are known. Where something keeps the question, only shorter requests of the server
  /// as it is stand beside that.
  std::vector<Candidate> take() && {
    const bool any_keeps = std::ranges::any_of(found_, &Weighed::keeps);
    if (any_keeps && present_.max_concurrency == 0)
      std::erase_if(found_, [](const Weighed& each) { return !each.keeps() && !each.shortens_only; });
    const bool priced = std::ranges::all_of(found_, [](const Weighed& each) { return each.price > 0; });
    std::ranges::stable_sort(found_, {}, [&](const Weighed& each) {
      const double price = priced ? each.price : 0;
      const std::int64_t shortness = each.keeps() ? 0 : -each.candidate.max_context;
      return std::tuple(!each.keeps(), shortness, each.on_others, each.parts, price);
    });
    return quantity::mapped(found_, &Weighed::candidate);
  }

 private:
  struct Weighed {
    Candidate candidate;
    double price = 0;            ///< of all accelerators an hour; 0: not known
    bool on_others = false;      ///< or on more accelerators than there are
    bool shortens_only = false;  ///< requests, and nothing of the server
    int parts = 0;               ///< that change beside a context nobody asked for: weights, cache
    bool keeps() const { return candidate.carries; }
  };

  Weighed weighed_as_asked(const Question& changed, const std::string& change, const std::string& cost) const {
    const bool on_others = changed.gpu->id != question_.gpu->id || changed.layout.gpus > question_.layout.gpus;
    return {weigh(changed, change, cost), hourly(changed), on_others};
  }

  /// A context that nobody asked for may be shorter than the model's, as the engine itself proposes, if it holds a
  /// conversation.
  Weighed shorter(const Question& changed, std::int64_t context, const std::string& words,
                  const std::string& cost) const {
    const auto [question, said] = with_context(changed, context);
    Weighed weighed = weighed_as_asked(question, words + said, cost);
    const bool is_enough = question_.serving.load.context == 0 && context >= std::min(present_.context, conversation);
    weighed.candidate.carries = weighed.candidate.carries && is_enough;
    return weighed;
  }

  /// Tokens of one request, or of each of all where nobody asked for a context.
  std::int64_t longest(const Capacity& capacity) const {
    const bool of_all = question_.serving.load.context == 0 && capacity.shared_context >= shortest_context;
    return of_all ? capacity.shared_context : capacity.max_context;
  }

  /// \return  whether it keeps what was asked
  bool take_if_better(Weighed weighed) {
    const Candidate& candidate = weighed.candidate;
    const bool helps =
        present_.max_concurrency == 0 ? candidate.starts : candidate.max_concurrency > present_.max_concurrency;
    const bool keeps = weighed.keeps();
    if (helps) found_.push_back(std::move(weighed));
    return helps && keeps;
  }

  bool keeps_with(Quant quant) const {
    const Question changed = quantized(question_, quant);
    const auto narrow = with_narrow_cache(changed);
    return weigh(changed, {}, {}).carries || (narrow && weigh(*narrow, {}, {}).carries);
  }

  /// The next wider copy: of twice the ranks, while a machine has so many and layers can be cut so often, else of twice
  /// the stages.
  std::optional<Copies> wider(Copies copies) const {
    const auto& layout = question_.layout;
    const std::int64_t joined = spec::accelerators_per_node(question_.gpu);
    const bool is_rank = can_cut(question_, 2 * copies.tp) && 2 * copies.tp * copies.pp <= joined &&
                         spec::kind_of(question_.serving.engine) == spec::EngineKind::server;
    (is_rank ? copies.tp : copies.pp) *= 2;
    const std::int64_t most = spec::has_stacked_memory(*question_.gpu) ? most_accelerators : joined;
    const std::int64_t all = quantity::product(copies.tp, copies.pp, question_.serving.layout.attention_dp);
    if (copies.pp > question_.model.layer_count() || all > most) return std::nullopt;
    copies.count = std::max<std::int64_t>(1, layout.dp * layout.tp * layout.pp / (copies.tp * copies.pp));
    return copies;
  }

  std::optional<Question> widened(const Question& question, Copies& copies) const {
    if (spec::reads_gguf(question.serving.engine)) {
      copies.tp *= 2;
      copies.count = std::max<std::int64_t>(1, question_.layout.gpus / copies.tp);
      if (copies.tp * copies.count > spec::accelerators_per_node(question.gpu)) return std::nullopt;
    } else if (const auto next = wider(copies)) {
      copies = *next;
    } else {
      return std::nullopt;
    }
    return copied(question, copies);
  }

  /// The fewest accelerators that keep what was asked. \return  how many; 0 where none of at most so many do
  std::int64_t spread(const Question& question, const std::string& words, const std::string& cost, std::int64_t most) {
    const auto& layout = question.layout;
    const bool on_cards = spec::reads_gguf(question.serving.engine);
    Copies copies{on_cards ? cards_of(question) : layout.tp, layout.dp, question.serving.layout.prefill_servers,
                  layout.pp};
    bool any = false;
    while (const auto changed = widened(question, copies)) {
      const std::int64_t gpus = changed->layout.gpus;
      if (gpus > most) return 0;
      const auto change = fmt::format("{}--gpus {}{}", words, gpus, layout_words(*changed, question_));
      const auto weighed = weighed_as_asked(*changed, change, cost + fmt::format("{} accelerators", gpus));
      if (weighed.keeps() || (weighed.candidate.starts && !std::exchange(any, true))) take_if_better(weighed);
      if (weighed.keeps()) return gpus;
    }
    return 0;
  }

  static constexpr std::int64_t shortest_context = 1024;  ///< tokens: fewer hold no conversation
  static constexpr std::int64_t most_accelerators = 64;   ///< of one copy: more are a question of their own

  const Question& question_;
  const Capacity& present_;
  std::vector<Weighed> found_;
};

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
    if (take(weigh(quantized(question, quant), quant_words(quant), quant_cost))) break;
  }
  take(std::move(find(question, Find::gpus).front()));
  return found;
}

/// Shorter requests, where nobody said how long they are, and narrower weights that keep all of a model on its cards.
std::vector<Candidate> advise_cards(const Question& question) {
  std::vector<Candidate> found;
  for (const Find what : {Find::context, Find::quant}) {
    if (what == Find::context && question.serving.load.context > 0) continue;
    for (Candidate& each : find(question, what)) {
      if (each.carries && !each.uses_host && each.max_context >= conversation) found.push_back(std::move(each));
    }
  }
  return found;
}

}  // namespace

std::vector<Candidate> advise(const ServingAnswer& answer,
                              const std::function<std::vector<spec::ProposedAccelerator>()>& larger,
                              const std::optional<spec::Question>& of_other_engine) {
  const Question& question = answer.deployment.question;
  const Capacity& capacity = answer.capacity;
  if (!answer.broken_limits.empty()) return advise_load(question);
  const bool carries = capacity.max_concurrency >= question.serving.load.concurrency;
  if (carries && leaves_by_itself(answer.deployment)) return advise_cards(question);
  if (carries || !question.gpu) return {};
  Adviser adviser(question, capacity);
  if (of_other_engine) adviser.engine(*of_other_engine);
  adviser.options();
  adviser.cache(question, "", "");
  adviser.context();
  adviser.text_alone();
  adviser.weights();
  adviser.layers();
  adviser.ranks();
  adviser.card(larger());
  return std::move(adviser).take();
}

}  // namespace llmcalc::serving
