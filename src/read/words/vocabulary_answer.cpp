// The terms that are not properties of a run but of the answer asked for.
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

using spec::DataBudget;
using spec::Pricing;
using spec::Runtime;
using spec::Training;

/// "15T" tokens, or "20x": tokens for each parameter.
struct TokenBudget {
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

struct DollarsPerHour {
  static constexpr std::string_view values = "dollars";
  static quantity::Money read(std::string_view text, std::string_view place) {
    return quantity::dollars(Number::read(text, place));
  }
  static std::string write(quantity::Money price) { return write_double(quantity::in_dollars(price)); }
};

struct Size {
  static constexpr std::string_view values = "size, as 550MiB";
  static quantity::Bytes read(std::string_view text, std::string_view place) {
    return quantity::parse_bytes(text, place);
  }
  static std::string write(quantity::Bytes size) { return std::to_string(quantity::in_bytes(size)); }
};

struct Capacity : Size {
  static constexpr std::string_view values = "size, as 80GB or 79GiB";
  static quantity::Bytes read(std::string_view text, std::string_view place) {
    return quantity::parse_capacity(text, place);
  }
};

/// "max", "first", "last", or "pp=3": a pipeline stage.
struct Rank {
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
      throw quantity::BadInput(std::string(place),
                               "expected max, first, last or pp=N, found " + quantity::quoted(text));
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

constexpr Term rows[] = {
    {"tokens", TermGroup::answer, "tokens, as 15T, or 20x", nullptr, "tokens to train on; 20x: for each parameter",
     &TokenBudget::apply, &TokenBudget::show},
    term<Maybe<Amount>, InPricing<&Pricing::data, &DataBudget::samples>>("samples", TermGroup::answer,
                                                                         "samples to train on, instead of tokens"),
    term<Rate, InPricing<&Pricing::data, &DataBudget::epochs>>("epochs", TermGroup::answer,
                                                               "how often each sample is seen"),
    term<Maybe<Amount>, InPricing<&Pricing::data, &DataBudget::sample_tokens>>(
        "sample_tokens", TermGroup::answer, "of a sample in the mean; otherwise each fills its sequence"),
    term<Switch, InPricing<&Pricing::data, &DataBudget::packing>>(
        "packing", TermGroup::answer, "samples end to end in sequences, instead of one in each"),
    term<Maybe<Amount>, InPricing<&Pricing::data, &DataBudget::steps>>("steps", TermGroup::answer,
                                                                       "optimizer steps, instead of tokens"),
    term<Maybe<PositiveShare>, InPricing<&Pricing::mfu>>("mfu", TermGroup::answer, "model FLOP utilisation"),
    term<Maybe<DollarsPerHour>, InPricing<&Pricing::price_per_hour>>("price", TermGroup::answer,
                                                                     "of one accelerator for one hour"),
    term<Maybe<Capacity>, InPricing<&Pricing::memory>>("memory", TermGroup::answer,
                                                       "capacity of one accelerator instead of the preset's"),
    term<Maybe<Capacity>, InPricing<&Pricing::host_memory>>(
        "host_memory", TermGroup::answer, "of one machine, for what is offloaded; default: the accelerator's share"),
    term<Maybe<Size>, InRuntime<&Runtime::context>>("context_bytes", TermGroup::answer,
                                                    "CUDA context and kernels instead of the measured constant"),
    term<Maybe<Size>, InRuntime<&Runtime::nccl>>("nccl_bytes", TermGroup::answer,
                                                 "buffers of NCCL's communicators instead of what its groups open"),
    term<Maybe<Size>, InRuntime<&Runtime::workspace>>("workspace", TermGroup::answer,
                                                      "of matrix products instead of the framework's"),
    term<Maybe<AtLeastOne>, InRuntime<&Runtime::reserved_ratio>>("reserved_ratio", TermGroup::answer,
                                                                 "held by the allocator over allocated"),
    term<Maybe<AtLeastOne>, InTraining<&Training::moe_imbalance>>("moe_imbalance", TermGroup::answer,
                                                                  "rows of the busiest rank's experts over the mean"),
    term<Word<spec::ActivationModel>, InTraining<&Training::activations>>("activations", TermGroup::answer,
                                                                          "how activations are counted"),
    {"rank", TermGroup::answer, "max, first, last or pp=N", nullptr, "the pipeline stage that the answer is about",
     &Rank::apply, &Rank::show},
};

}  // namespace

std::span<const Term> answer_terms() { return rows; }

}  // namespace llmcalc::read
