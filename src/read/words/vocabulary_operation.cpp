// The terms that say how a run is operated: failures, checkpoints, electricity.
#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/words/terms.hpp"

#include <cmath>

namespace llmcalc::read {
namespace {

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

struct Duration {
  static constexpr std::string_view values = "duration, as 30min or 2h";
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    const auto time = quantity::parse_duration(text, place);
    check_limits(quantity::in_seconds(time), 0.0, max_amount, text, place);
    return time;
  }
  static std::string write(quantity::Seconds time) { return write_double(quantity::in_seconds(time)) + "s"; }
};

struct Interval : Duration {
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    const auto time = Duration::read(text, place);
    check_limits(quantity::in_seconds(time), least, max_amount, text, place);
    return time;
  }
};

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

constexpr Term rows[] = {
    term<Maybe<TimeBetweenFailures>, InReliability<&Reliability::mtbf>>(
        "mtbf", TermGroup::answer, "mean time between failures of one accelerator; none: nothing fails"),
    term<Maybe<Interval>, InReliability<&Reliability::checkpoint_interval>>(
        "checkpoint_interval", TermGroup::answer, "training between two checkpoints; default: the best"),
    term<Maybe<StorageBandwidth>, InReliability<&Reliability::checkpoint_bandwidth>>(
        "checkpoint_bandwidth", TermGroup::answer, "to storage, of all ranks together"),
    term<Maybe<StorageBandwidth>, InRuntime<&spec::Runtime::nvme>>(
        "nvme_bandwidth", TermGroup::answer, "of a node's drives, for --offload-to nvme; default: one drive's"),
    term<Maybe<Duration>, InReliability<&Reliability::restart_time>>("restart_time", TermGroup::answer,
                                                                     "from a failure to the next step"),
    term<Maybe<Watts>, InElectricity<&Electricity::power>>("power", TermGroup::answer,
                                                           "mean draw of one accelerator with its share of the server"),
    term<Maybe<AtLeastOne>, InElectricity<&Electricity::pue>>("pue", TermGroup::answer,
                                                              "draw of the building over that of its servers"),
    term<Maybe<GridIntensity>, InElectricity<&Electricity::carbon_intensity>>(
        "carbon_intensity", TermGroup::answer, "CO2e of a kilowatt-hour where the run is"),
};

}  // namespace

std::span<const Term> operation_terms() { return rows; }

}  // namespace llmcalc::read
