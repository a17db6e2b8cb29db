// Kinds of values of a layout, of the answer that is asked for, and of how a run is operated, and their terms.
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
    check_limits(quantity::in_seconds(time), least, max_amount, text, place);
    return time;
  }
  static std::string write(quantity::Seconds time) {
    return std::isinf(quantity::in_seconds(time)) ? std::string(never) : write_double(quantity::in_hours(time)) + "h";
  }
};

struct StorageBandwidth {
  static constexpr std::string_view values = "bandwidth, as 10GB/s";
  static quantity::Bandwidth read(std::string_view text, std::string_view place) {
    const auto rate = quantity::parse_bandwidth(text, place);
    check_limits(quantity::in_bytes_per_second(rate), 1.0, max_amount, text, place);
    return rate;
  }
  static std::string write(quantity::Bandwidth rate) {
    return write_double(quantity::in_gigabytes_per_second(rate)) + "GB/s";
  }
};

struct Watts {
  static constexpr std::string_view values = "watts";
  static quantity::Power read(std::string_view text, std::string_view place) {
    const auto power = quantity::parse_power(text, place);
    check_limits(quantity::in_watts(power), 0.0, max_amount, text, place);
    return power;
  }
  static std::string write(quantity::Power power) { return write_double(quantity::in_watts(power)) + "W"; }
};

struct GridIntensity {
  static constexpr std::string_view values = "g/kWh, as 400 or 0.4kg/kWh, or world";
  static constexpr std::string_view world = "world";
  static quantity::CarbonIntensity read(std::string_view text, std::string_view place) {
    if (quantity::to_lower(text) == world) return spec::world_carbon_intensity;
    check_word(text, place, values, world);
    const auto intensity = quantity::parse_carbon_intensity(text, place);
    check_limits(quantity::in_grams_per_kilowatt_hour(intensity), 0.0, max_amount, text, place);
    return intensity;
  }
  static std::string write(quantity::CarbonIntensity intensity) {
    return write_double(quantity::in_grams_per_kilowatt_hour(intensity)) + "g/kWh";
  }
};

constexpr Term answer_rows[] = {
#include "vocabulary/answer.inc"
};

}  // namespace

std::span<const Term> layout_terms() { return layout_rows; }

std::span<const Term> answer_terms() { return answer_rows; }

}  // namespace llmcalc::read
