// Kinds of values of a layout, of the answer that is asked for, of how a run is operated, of what an engine is told and
// of the load that a server shall carry, and their terms.
#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "read/words/terms.hpp"

#include <cmath>

namespace llmcalc::read {
namespace {

using spec::Layout;

using Degree = Whole<1>;
using StageLayers = Whole<1, max_layers>;

/// The accelerator is looked up by resolve(); what is echoed is its id.
constexpr TermValue gpu_name{"name, name:count or local", nullptr, nullptr, [](const spec::Question& question) {
                               return question.gpu ? question.gpu->id : std::string();
                             }};

/// Completed together with the nodes, so nothing else holds it.
constexpr TermValue node_size{Degree::values, nullptr, nullptr, [](const spec::Question& question) {
                                return std::to_string(question.layout.gpus / question.layout.nodes);
                              }};

constexpr Term layout_rows[] = {
#include "vocabulary/layout.inc"
};

using spec::DataBudget;
using spec::Pricing;
using spec::Runtime;
using spec::Training;

/// "15T" tokens, or "20x": tokens for each parameter.
struct TokenBudget {
  static constexpr std::string_view values = "tokens, as 15T, or 20x";
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    DataBudget& data = question.pricing.data;
    data.tokens.reset();
    data.tokens_per_parameter.reset();
    const auto amount = quantity::parse_tokens(text, place);
    if (const auto* total = std::get_if<quantity::Tokens>(&amount)) {
      check_limits(quantity::in_tokens(*total), 1.0, max_amount, text, place);
      data.tokens = *total;
    } else {
      const auto ratio = std::get<quantity::TokensPerParameter>(amount).ratio;
      data.tokens_per_parameter = check_limits(ratio, std::numeric_limits<double>::min(), max_amount, text, place);
    }
  }
  static std::string show(const spec::Question& question) {
    const DataBudget& data = question.pricing.data;
    if (data.tokens) return write_double(quantity::in_tokens(*data.tokens));
    return data.tokens_per_parameter ? write_double(*data.tokens_per_parameter) + "x" : std::string();
  }
};

/// A run sees one at least.
struct Amount : Number {
  static double read(std::string_view text, std::string_view place) {
    return check_limits(quantity::parse_number(text, place), 1.0, max_amount, text, place);
  }
};

/// "max", "first", "last", or "pp=3": a pipeline stage.
struct Rank {
  static constexpr std::string_view values = "max, first, last or pp=N";
  using Kind = spec::RankChoice::Kind;
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    constexpr std::string_view prefix = "pp=";
    const std::string word = quantity::to_lower(text);
    if (word == "max") {
      question.rank = {Kind::max, 0};
    } else if (word == "first" || word == "0") {
      question.rank = {Kind::first, 0};
    } else if (word == "last") {
      question.rank = {Kind::last, 0};
    } else if (word.starts_with(prefix)) {
      question.rank = {Kind::stage, quantity::parse_count(word.substr(prefix.size()), place)};
    } else {
      throw quantity::BadInput(std::string(place), "expected max, first, last or pp=N, found " + quantity::quoted(text),
                               "of adapters it is --lora-rank");
    }
  }
  static std::string show(const spec::Question& question) {
    switch (question.rank.kind) {
      case Kind::max: return "max";
      case Kind::first: return "first";
      case Kind::last: return "last";
      case Kind::stage: return "pp=" + std::to_string(question.rank.stage);
    }
    return {};
  }
};

using spec::Electricity;
using spec::Reliability;

constexpr double least = std::numeric_limits<double>::min();

/// A word where a number or one other word may stand.
void check_word(std::string_view text, std::string_view place, std::string_view values, std::string_view known) {
  const std::string word = quantity::to_lower(text);
  if (word.empty() || word.front() < 'a' || word.front() > 'z') return;
  throw quantity::BadInput(std::string(place), "expected " + std::string(values) + ", found " + quantity::quoted(text),
                           quantity::did_you_mean(word, std::vector<std::string_view>{known}));
}

/// "50000" hours, "50000h", "2000 days", or "none".
struct TimeBetweenFailures {
  static constexpr std::string_view values = "hours, duration or none";
  static constexpr std::string_view never = "none";
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    if (quantity::to_lower(text) == never) return quantity::seconds(std::numeric_limits<double>::infinity());
    check_word(text, place, values, never);
    const bool counts_hours = !text.empty() && text.back() >= '0' && text.back() <= '9';
    const auto time =
        counts_hours ? quantity::hours(quantity::parse_number(text, place)) : quantity::parse_duration(text, place);
    return at_least(least, time, quantity::in_seconds, text, place);
  }
  static std::string write(quantity::Seconds time) {
    return std::isinf(quantity::in_seconds(time)) ? std::string(never) : write_double(quantity::in_hours(time)) + "h";
  }
};

struct StorageBandwidth {
  static constexpr std::string_view values = "bandwidth, as 10GB/s";
  static quantity::Bandwidth read(std::string_view text, std::string_view place) {
    return at_least(1.0, quantity::parse_bandwidth(text, place), quantity::in_bytes_per_second, text, place);
  }
  static std::string write(quantity::Bandwidth rate) {
    return write_double(quantity::in_gigabytes_per_second(rate)) + "GB/s";
  }
};

struct Watts {
  static constexpr std::string_view values = "watts";
  static quantity::Power read(std::string_view text, std::string_view place) {
    return at_least(0.0, quantity::parse_power(text, place), quantity::in_watts, text, place);
  }
  static std::string write(quantity::Power power) { return write_double(quantity::in_watts(power)) + "W"; }
};

struct GridIntensity {
  static constexpr std::string_view values = "g/kWh, as 400 or 0.4kg/kWh, or world";
  static constexpr std::string_view world = "world";
  static quantity::CarbonIntensity read(std::string_view text, std::string_view place) {
    if (quantity::to_lower(text) == world) return spec::world_carbon_intensity;
    check_word(text, place, values, world);
    return at_least(0.0, quantity::parse_carbon_intensity(text, place), quantity::in_grams_per_kilowatt_hour, text,
                    place);
  }
  static std::string write(quantity::CarbonIntensity intensity) {
    return write_double(quantity::in_grams_per_kilowatt_hour(intensity)) + "g/kWh";
  }
};

constexpr Term answer_rows[] = {
#include "vocabulary/answer.inc"
};

using spec::EngineOptions;
using spec::Load;
using spec::Serving;
using spec::ServingLayout;

template <class Kind, auto... members>
constexpr TermValue in_options = in_serving<Kind, &Serving::options, members...>;
template <class Kind, auto... members>
constexpr TermValue in_load = in_serving<Kind, &Serving::load, members...>;
template <class Kind, auto... members>
constexpr TermValue in_serving_layout = in_serving<Kind, &Serving::layout, members...>;

struct CacheSize : Size {
  static constexpr std::string_view values = "size, as 8GiB";
  static std::string write(quantity::Bytes size) {
    return size == quantity::bytes(0) ? std::string() : Size::write(size);
  }
};

/// A number of positions that may be none: an empty prompt, or no answer.
struct LengthOrNone : Length {
  static std::int64_t read(std::string_view text, std::string_view place) {
    return quantity::trim(text) == "0" ? 0 : Length::read(text, place);
  }
  static std::string write(std::int64_t value) { return std::to_string(value); }
};

/// Zero is the model's own, which a question says as a number.
struct LengthOrOwn : LengthOrNone {
  static constexpr std::string_view values = "positions, as 4096 or 8k, 0 of the model";
  static std::string write(std::int64_t value) { return Length::write(value); }
};

struct CardShare : Capacity {
  static constexpr std::string_view values = "size, as 70GiB";
};

/// --margin: a size, or a share of the accelerator.
struct Margin {
  static constexpr std::string_view values = "size or percent";
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    take_margin(text, place, question.serving.load.memory);
  }
  static std::string show(const spec::Question& question) {
    const auto& limits = question.serving.load.memory;
    if (limits.margin_share) return write_double(100.0 * *limits.margin_share) + "%";
    return limits.margin ? Size::write(*limits.margin) : std::string();
  }
};

/// Servers of an engine without ranks; of others they are what ranks leave of the accelerators.
struct Copies : Whole<1> {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    question.layout.dp = read(text, place);
  }
  static std::string show(const spec::Question& question) {
    return spec::reads_gguf(question.serving.engine) ? write(question.layout.dp) : std::string();
  }
};

/// The share of --accept, where tokens are proposed.
struct AcceptedShare : PositiveShare {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    question.serving.options.accept = read(text, place);
  }
  static std::string show(const spec::Question& question) {
    const EngineOptions& options = question.serving.options;
    return options.draft.kind == spec::DraftKind::none ? std::string() : write(options.accept);
  }
};

struct Limit : Interval {
  static constexpr std::string_view values = "duration, as 30ms or 1s";
};

/// --quant: a scheme, or the type of a GGUF file as its name has it, "UD-Q4_K_XL" among them.
struct QuantWord {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(text);
    const bool is_led = word.starts_with("ud-") || word.starts_with("ad-");  // unsloth's and others' "dynamic"
    const auto plain = std::string_view(word).substr(is_led ? 3 : 0);
    const auto mixture = spec::nearest_type(plain);
    const auto* found = spec::find_name<formats::Quant>(plain);
    if (!mixture && found == nullptr) throw_unknown_word(text, place, words());
    question.serving.quant = mixture ? *mixture : found->value;
    question.serving.mixed_by_hand = mixture || is_led;
  }
  static std::string show(const spec::Question& question) { return std::string(spec::name_of(question.serving.quant)); }
  static std::vector<std::string_view> words() { return canonical_words<formats::Quant>(); }
};

/// --draft: "mtp", "mtp:2", "eagle:3", "eagle=owner/name:3", "none".
struct DraftWord {
  static constexpr std::string_view values = "none|mtp[:N]|eagle[=MODEL][:N]|MODEL[:N]";
  static constexpr std::int64_t usual_of_models = 5;  // vLLM docs/features/spec_decode, the example of a draft model
  static spec::Draft read(std::string_view text, std::string_view place) {
    const std::string_view word = quantity::trim(text);
    const auto colon = word.rfind(':');
    const std::string_view who = word.substr(0, colon);
    const auto equals = who.find('=');
    spec::Draft draft;
    draft.kind = kind_of(quantity::to_lower(who.substr(0, equals)));
    if (draft.kind == spec::DraftKind::eagle && equals != who.npos) {
      draft.model = who.substr(equals + 1);
      if (draft.model.empty())
        throw quantity::BadInput(std::string(place), "names no checkpoint", "eagle=OWNER/NAME:3");
    }
    if (draft.kind == spec::DraftKind::model) {
      draft.model = who;
      draft.tokens = usual_of_models;
    }
    if (colon != std::string::npos) draft.tokens = Whole<1, 64>::read(word.substr(colon + 1), place);
    return draft;
  }
  static std::string write(const spec::Draft& draft) {
    if (draft.kind == spec::DraftKind::none) return {};
    const std::string who = draft.kind == spec::DraftKind::model ? draft.model
                            : draft.kind == spec::DraftKind::mtp ? "mtp"
                            : draft.model.empty()                ? "eagle"
                                                                 : "eagle=" + draft.model;
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

/// A channel is 64 bits wide (JESD79-4, JESD79-5), and a desktop has two of them.
struct HostMemory {
  static constexpr std::string_view values = "GB/s, or as ddr5-6000 or ddr4-3200:8 (channels)";
  static quantity::Bandwidth read(std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(quantity::trim(text));
    if (!word.starts_with("ddr")) return quantity::gigabytes_per_second(Rate::read(word, place));
    const auto rate = std::min(word.find('-'), word.size() - 1) + 1;
    const auto colon = std::min(word.find(':', rate), word.size());
    const std::string channels = colon < word.size() ? word.substr(colon + 1) : "2";
    constexpr double gigabytes = 8e-3;  // of a million transfers
    return quantity::gigabytes_per_second(gigabytes * Rate::read(word.substr(rate, colon - rate), place) *
                                          static_cast<double>(Whole<1, 64>::read(channels, place)));
  }
  static std::string write(quantity::Bandwidth rate) { return write_double(quantity::in_gigabytes_per_second(rate)); }
};

constexpr Term serving_rows[] = {
#include "vocabulary/serving.inc"
};

}  // namespace

std::span<const Term> layout_terms() { return layout_rows; }

std::span<const Term> answer_terms() { return answer_rows; }

std::span<const Term> serving_terms() { return serving_rows; }

void take_margin(std::string_view text, std::string_view place, spec::MemoryLimits& limits) {
  limits.margin.reset();
  limits.margin_share.reset();
  if (text.ends_with('%')) {
    limits.margin_share = quantity::parse_share(text, place);
  } else {
    limits.margin = quantity::parse_capacity(text, place);
  }
}

}  // namespace llmcalc::read
