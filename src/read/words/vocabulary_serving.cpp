// The terms of a server: what its engine is told, and the load that it shall carry.
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

using spec::EngineOptions;
using spec::Load;
using spec::Serving;
using spec::ServingLayout;

template <auto... members>
using InOptions = InServing<&Serving::options, members...>;
template <auto... members>
using InLoad = InServing<&Serving::load, members...>;
template <auto... members>
using InServingLayout = InServing<&Serving::layout, members...>;

struct CacheSize {
  static constexpr std::string_view values = "size, as 8GiB";
  static quantity::Bytes read(std::string_view text, std::string_view place) {
    return quantity::parse_bytes(text, place);
  }
  static std::string write(quantity::Bytes size) {
    return size == quantity::bytes(0) ? std::string() : std::to_string(quantity::in_bytes(size));
  }
};

/// A number of positions that may be none: an empty prompt, or no answer.
struct LengthOrNone : Length {
  static std::int64_t read(std::string_view text, std::string_view place) {
    return quantity::trim(text) == "0" ? 0 : Length::read(text, place);
  }
  static std::string write(std::int64_t value) { return std::to_string(value); }
};

struct Limit {
  static constexpr std::string_view values = "duration, as 30ms or 1s";
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    const auto time = quantity::parse_duration(text, place);
    check_limits(quantity::in_seconds(time), std::numeric_limits<double>::min(), max_amount, text, place);
    return time;
  }
  static std::string write(quantity::Seconds time) { return write_double(quantity::in_seconds(time)) + "s"; }
};

/// The type of a file that was mixed for one model ("UD-Q4_K_XL", "AD-Q4_K_M") by the part of its name that says it.
std::string plain_type(std::string word) {
  for (const std::string_view prefix : {"ud-", "ad-"}) {
    if (word.starts_with(prefix)) word.erase(0, prefix.size());
  }
  if (word == "q8_k_xl") return "q8_0";
  if (word == "q2_k_xl" || word == "q6_k_xl") word.resize(word.size() - 3);
  if (word.ends_with("_xl")) word.replace(word.size() - 3, 3, "_m");
  return word;
}

/// --quant: a scheme, or the type of a GGUF file as its name has it.
struct QuantWord {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(text);
    const std::string plain = plain_type(word);
    const auto* found = spec::find_name<formats::Quant>(plain);
    if (found == nullptr) throw_unknown_word(text, place, canonical_words<formats::Quant>());
    question.serving.quant = found->value;
    question.serving.mixed_by_hand = plain != word;
  }
  static std::string show(const spec::Question& question) { return std::string(spec::name_of(question.serving.quant)); }
};

/// --draft: "mtp", "mtp:2", "eagle:3", "none".
struct DraftWord {
  static constexpr std::string_view values = "none|mtp[:N]|eagle[:N]|MODEL[:N]";
  static constexpr std::int64_t usual_of_models = 5;  // vLLM docs/features/spec_decode, the example of a draft model
  static spec::Draft read(std::string_view text, std::string_view place) {
    const std::string_view word = quantity::trim(text);
    const auto colon = word.rfind(':');
    const std::string kind = quantity::to_lower(word.substr(0, colon));
    spec::Draft draft;
    draft.kind = kind_of(kind);
    if (draft.kind == spec::DraftKind::model) {
      draft.model = word.substr(0, colon);
      draft.tokens = usual_of_models;
    }
    if (colon != std::string::npos) draft.tokens = Whole<1, 64>::read(word.substr(colon + 1), place);
    return draft;
  }
  static std::string write(const spec::Draft& draft) {
    if (draft.kind == spec::DraftKind::none) return {};
    const std::string who = draft.kind == spec::DraftKind::model ? draft.model
                            : draft.kind == spec::DraftKind::mtp ? "mtp"
                                                                 : "eagle";
    return who + ":" + std::to_string(draft.tokens);
  }

 private:
  static spec::DraftKind kind_of(std::string_view word) {
    if (word == "none") return spec::DraftKind::none;
    if (word == "mtp") return spec::DraftKind::mtp;
    return word == "eagle" || word == "eagle3" ? spec::DraftKind::eagle : spec::DraftKind::model;
  }
};

/// Layers on the accelerator, or all of them as llama.cpp writes it.
struct LayerCount {
  static constexpr std::string_view values = "integer or all";
  static std::int64_t read(std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(quantity::trim(text));
    return word == "all" || word == "-1" || word == "-2" ? max_layers + 1 : Whole<0>::read(word, place);
  }
  static std::string write(std::int64_t layers) { return layers > max_layers ? "all" : std::to_string(layers); }
};

constexpr Term rows[] = {
    term<Word<spec::Engine>, InServing<&Serving::engine>>("engine", TermGroup::engine, "what serves the model"),
    term<FreeText, InServing<&Serving::engine_version>>("engine_version", TermGroup::engine,
                                                        "release, build or date; default: the newest that is known"),
    {"quant",
     TermGroup::engine,
     {},
     &canonical_words<formats::Quant>,
     "how the weights are quantized",
     &QuantWord::apply,
     &QuantWord::show},
    term<Whole<1, 4096>, InServing<&Serving::group_size>>("group_size", TermGroup::engine,
                                                          "inputs that share a scale; default: the scheme's own"),
    term<Switch, InServing<&Serving::imatrix>>("imatrix", TermGroup::engine, "GGUF: made with an importance matrix"),
    term<Word<spec::CacheType>, InServing<&Serving::cache>>("kv_dtype", TermGroup::engine, "type of keys and values"),
    term<Maybe<PositiveShare>, InOptions<&EngineOptions::memory_fraction>>(
        "memory_fraction", TermGroup::engine, "of the accelerator's memory that the engine may take"),
    term<Maybe<CacheSize>, InOptions<&EngineOptions::cache_bytes>>("kv_bytes", TermGroup::engine,
                                                                   "cache of this size, whatever is free"),
    term<Maybe<Length>, InOptions<&EngineOptions::batched_tokens>>("batched_tokens", TermGroup::engine,
                                                                   "tokens of one engine step"),
    term<Maybe<Whole<1>>, InOptions<&EngineOptions::max_sequences>>("max_seqs", TermGroup::engine,
                                                                    "sequences of one engine step"),
    term<Maybe<Whole<1, 65536>>, InOptions<&EngineOptions::block>>("block", TermGroup::engine,
                                                                   "positions of a block of the cache"),
    term<Maybe<Switch>, InOptions<&EngineOptions::graphs>>("graphs", TermGroup::engine,
                                                           "steps are captured CUDA graphs"),
    term<Maybe<Length>, InOptions<&EngineOptions::ubatch>>("ubatch", TermGroup::engine,
                                                           "llama.cpp: tokens of one pass"),
    term<Maybe<Whole<1, 4096>>, InOptions<&EngineOptions::slots>>("slots", TermGroup::engine,
                                                                  "llama.cpp, ollama: sequences side by side"),
    term<Maybe<LayerCount>, InOptions<&EngineOptions::gpu_layers>>(
        "gpu_layers", TermGroup::engine, "llama.cpp: layers on the accelerator, the head is one"),
    term<Whole<0, max_layers>, InOptions<&EngineOptions::cpu_experts>>(
        "cpu_experts", TermGroup::engine, "llama.cpp: leading layers whose experts stay in host memory"),
    term<Maybe<Switch>, InOptions<&EngineOptions::flash>>("flash", TermGroup::engine, "attention in one kernel"),
    term<Maybe<Switch>, InOptions<&EngineOptions::prefix_cache>>("prefix_cache", TermGroup::engine,
                                                                 "what requests have in common is kept for later ones"),
    term<Number, InOptions<&EngineOptions::wait_steps>>(
        "wait_steps", TermGroup::engine, "decoding steps for which a new request is let wait, in the mean"),
    term<DraftWord, InOptions<&EngineOptions::draft>>("draft", TermGroup::engine, "what proposes tokens ahead"),
    term<PositiveShare, InOptions<&EngineOptions::accept>>("accept", TermGroup::engine,
                                                           "share of proposed tokens that are accepted"),
    term<Whole<0, 4096>, InOptions<&EngineOptions::max_loras>>("max_loras", TermGroup::engine,
                                                               "adapters resident beside the model"),
    term<Length, InLoad<&Load::context>>("context", TermGroup::load, "longest sequence, prompt and answer together"),
    term<LengthOrNone, InLoad<&Load::prompt>>("prompt", TermGroup::load, "tokens of a request"),
    term<LengthOrNone, InLoad<&Load::output>>("output", TermGroup::load, "tokens of its answer"),
    term<PositiveShare, InLoad<&Load::range_ratio>>("range_ratio", TermGroup::load,
                                                    "shortest prompt and answer, as a share of --prompt and --output"),
    term<Whole<1>, InLoad<&Load::concurrency>>("concurrency", TermGroup::load, "requests in flight"),
    term<Maybe<Rate>, InLoad<&Load::rate>>("rate", TermGroup::load, "requests a second, instead of a concurrency"),
    term<LengthOrNone, InLoad<&Load::shared_prefix>>("shared_prefix", TermGroup::load,
                                                     "leading tokens that all requests have in common"),
    term<Maybe<Limit>, InLoad<&Load::ttft>>("ttft", TermGroup::load, "limit of the time to the first token"),
    term<Maybe<Limit>, InLoad<&Load::tpot>>("tpot", TermGroup::load, "limit of the time of each later token"),
    term<Whole<1>, InServingLayout<&ServingLayout::attention_dp>>(
        "attention_dp", TermGroup::layout, "copies of the attention part, each with its own sequences"),
    term<Maybe<Whole<1>>, InServingLayout<&ServingLayout::expert_tp>>(
        "expert_tp", TermGroup::layout, "tensor parallelism inside an expert; default: what --ep leaves"),
    term<Whole<1>, InServingLayout<&ServingLayout::dcp>>("dcp", TermGroup::layout,
                                                         "ranks that share a sequence's cache in decoding"),
    term<Word<spec::CardSplit>, InServingLayout<&ServingLayout::split>>("split", TermGroup::layout,
                                                                        "llama.cpp: how a model is spread over cards"),
    term<CacheSize, InServing<&Serving::other_usage>>("other_usage", TermGroup::hardware,
                                                      "accelerator memory that others take"),
};

}  // namespace

std::span<const Term> serving_terms() { return rows; }

}  // namespace llmcalc::read
