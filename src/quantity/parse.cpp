#include "quantity/parse.hpp"

#include "quantity/inner/decimal.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <array>
#include <limits>

namespace llmcalc::quantity {

namespace {

constexpr std::array length_units{Unit{"", {}}, Unit{"k", {0, kibi}}, Unit{"ki", {0, kibi}}, Unit{"m", {0, mebi}},
                                  Unit{"mi", {0, mebi}}};
constexpr Kind length{"a length in tokens", "4096 or 8k (k = 1024)", length_units};

constexpr std::array decimal_units{Unit{"", {}},         Unit{"k", {3}},        Unit{"m", {6}},  Unit{"b", {9}},
                                   Unit{"g", {9}},       Unit{"t", {12}},       Unit{"bn", {9}}, Unit{"million", {6}},
                                   Unit{"billion", {9}}, Unit{"trillion", {12}}};
constexpr std::array money_units{Unit{"", {}},  Unit{"k", {3}},  Unit{"m", {6}},     Unit{"b", {9}},
                                 Unit{"$", {}}, Unit{"usd", {}}, Unit{"dollars", {}}};
constexpr Kind count{"a count", "32, 1_000 or 1e3", decimal_units};
constexpr Kind parameter_count{"a number of parameters", "1e9, 7b or 350M", decimal_units};
constexpr Kind token_count{"a number of tokens", "15T, 300B, or 20x for 20 tokens a parameter", decimal_units};
constexpr Kind plain_number{"a number", "2.5, 1e3 or 300B", decimal_units};
constexpr Kind dollar_amount{"an amount of money", "2.50, $50 or 10k", money_units};

constexpr std::array byte_units{Unit{"", {}},           Unit{"b", {}},
                                Unit{"kb", {3}},        Unit{"mb", {6}},
                                Unit{"gb", {9}},        Unit{"tb", {12}},
                                Unit{"k", {0, kibi}},   Unit{"m", {0, mebi}},
                                Unit{"g", {0, gibi}},   Unit{"t", {0, gibi* kibi}},
                                Unit{"kib", {0, kibi}}, Unit{"mib", {0, mebi}},
                                Unit{"gib", {0, gibi}}, Unit{"tib", {0, gibi* kibi}}};
constexpr Kind byte_count{"an amount of memory", "80GiB, 80GB or 24G (= GiB)", byte_units};

constexpr std::array share_units{Unit{"", {}}, Unit{"%", {-2}}};
constexpr Kind share{"a share between 0 and 1", "0.4 or 40%", share_units};

constexpr Kind real_number{"a number", "-3.14159265, 1e-8, inf or nan", decimal_units};

/// "Gb" and "Mb" are gigabits and megabits to some; "gb" and "GB" are bytes to all.
bool looks_like_bits(std::string_view text) {
  return text.size() > 1 && text.back() == 'b' && text[text.size() - 2] >= 'A' && text[text.size() - 2] <= 'Z';
}

// The parsers of compound units: durations, amounts of compute and rates.

constexpr std::int64_t minute = 60;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t year = 365 * day + 6 * hour;  // a Julian one, whose twelfth is a month

constexpr std::array duration_units{Unit{"us", {-6}},
                                    Unit{"ms", {-3}},
                                    Unit{"s", {}},
                                    Unit{"sec", {}},
                                    Unit{"seconds", {}},
                                    Unit{"m", {0, minute}},
                                    Unit{"min", {0, minute}},
                                    Unit{"minutes", {0, minute}},
                                    Unit{"h", {0, hour}},
                                    Unit{"hour", {0, hour}},
                                    Unit{"hours", {0, hour}},
                                    Unit{"d", {0, day}},
                                    Unit{"day", {0, day}},
                                    Unit{"days", {0, day}},
                                    Unit{"w", {0, 7 * day}},
                                    Unit{"week", {0, 7 * day}},
                                    Unit{"weeks", {0, 7 * day}},
                                    Unit{"month", {0, year / 12}},
                                    Unit{"months", {0, year / 12}},
                                    Unit{"year", {0, year}},
                                    Unit{"years", {0, year}}};
constexpr Kind duration{"a duration", "30d 12h, 90min or 350ms", duration_units};

// 1 PFLOP-day = 1e15 FLOP/s for a day (Brown et al. 2020, appendix D).
constexpr std::array compute_units{Unit{"", {}},
                                   Unit{"flop", {}},
                                   Unit{"flops", {}},
                                   Unit{"tflop", {12}},
                                   Unit{"pflop", {15}},
                                   Unit{"eflop", {18}},
                                   Unit{"zflop", {21}},
                                   Unit{"pflop-day", {15, day}},
                                   Unit{"pflop-days", {15, day}},
                                   Unit{"pf-days", {15, day}},
                                   Unit{"petaflop/s-days", {15, day}},
                                   Unit{"gpu-h", {0, hour}},
                                   Unit{"gpu-hour", {0, hour}},
                                   Unit{"gpu-hours", {0, hour}},
                                   Unit{"gpu-days", {0, day}}};
constexpr Kind compute{"an amount of compute", "3.2e23, 3640 PFLOP-days or 100 GPU-hours", compute_units};

constexpr std::array flop_rate_units{Unit{"", {}},          Unit{"flop/s", {}},   Unit{"g", {9}},
                                     Unit{"gflop/s", {9}},  Unit{"gflops", {9}},  Unit{"t", {12}},
                                     Unit{"tflop/s", {12}}, Unit{"tflops", {12}}, Unit{"p", {15}},
                                     Unit{"pflop/s", {15}}, Unit{"pflops", {15}}, Unit{"eflop/s", {18}}};
constexpr Kind flop_rate{"a rate of computing", "312 TFLOP/s or 1.98e15", flop_rate_units};

constexpr std::array bandwidth_units{Unit{"", {}},      Unit{"b/s", {}},    Unit{"kb/s", {3}}, Unit{"mb/s", {6}},
                                     Unit{"gb/s", {9}}, Unit{"tb/s", {12}}, Unit{"g", {9}},    Unit{"t", {12}}};
constexpr Kind bandwidth{"a bandwidth", "2039 GB/s or 3.35TB/s", bandwidth_units};

constexpr std::array power_units{Unit{"", {}}, Unit{"w", {}}, Unit{"kw", {3}}, Unit{"mw", {6}}};
constexpr Kind power{"a power", "700W or 0.7kW", power_units};

constexpr std::array carbon_units{
    Unit{"", {}},        Unit{"g/kwh", {}}, Unit{"gco2/kwh", {}},    Unit{"gco2e/kwh", {}}, Unit{"g", {}},
    Unit{"kg/kwh", {3}}, Unit{"kg", {3}},   Unit{"kgco2e/kwh", {3}}, Unit{"t/mwh", {3}},    Unit{"kg/mwh", {}}};
constexpr Kind carbon_intensity{"a carbon intensity", "400g/kWh or 0.4kg/kWh", carbon_units};

constexpr bool begins_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; }

/// The length of the first "<number> <unit>" of a sum: up to where, behind a unit, the next number begins.
std::size_t first_term(std::string_view text) {
  std::string_view unit = text;
  if (!take_decimal(unit)) return text.size();
  const auto next = std::ranges::find_if(unit, begins_number);
  return text.size() - static_cast<std::size_t>(unit.end() - next);
}

}  // namespace

std::int64_t parse_length(std::string_view text, std::string_view place) { return read_whole(text, place, length); }

std::int64_t parse_count(std::string_view text, std::string_view place) { return read_whole(text, place, count); }

Parameters parse_parameters(std::string_view text, std::string_view place) {
  const auto value = read_whole(text, place, parameter_count);
  if (value == 0) refuse(text, place, parameter_count, "a model has at least one");
  return parameters(value);
}

std::variant<Tokens, TokensPerParameter> parse_tokens(std::string_view text, std::string_view place) {
  std::string_view number = trim(text);
  const auto last = number.size() < 2 ? '\0' : to_lower(number[number.size() - 2]);
  const bool is_number =
      is_digit(last) || last == '.' || std::string_view("kmbgt").find(last) != std::string_view::npos;
  const bool is_ratio = is_number && to_lower(number.back()) == 'x';  // else what was typed is quoted as a whole
  if (is_ratio) number.remove_suffix(1);
  const double value = read_real(number, place, token_count);
  if (value == 0.0) refuse(text, place, token_count, "a run needs more than none");
  if (is_ratio) return TokensPerParameter{value};
  return tokens(value);
}

Bytes parse_bytes(std::string_view text, std::string_view place) {
  if (looks_like_bits(trim(text))) refuse(text, place, byte_count, "a small b after a capital reads as bits");
  return bytes(read_whole(text, place, byte_count, Fraction::rounded));
}

Bytes parse_capacity(std::string_view text, std::string_view place) {
  const Bytes size = parse_bytes(text, place);
  if (size < mib(1)) refuse(text, place, byte_count, "no device has so little; a unit may be missing");
  return size;
}

double parse_share(std::string_view text, std::string_view place) {
  const double value = read_real(text, place, share);
  if (value > 1.0) refuse(text, place, share, "it is more than the whole");
  return value;
}

double parse_number(std::string_view text, std::string_view place) { return read_real(text, place, plain_number); }

Money parse_money(std::string_view text, std::string_view place) {
  return dollars(read_real(without_start(trim(text), "$"), place, dollar_amount));
}

Seconds parse_days(std::string_view text, std::string_view place) {
  const bool has_unit = text.find_first_of("dhmswy") != std::string_view::npos;
  return has_unit ? parse_duration(text, place) : days(parse_number(text, place));
}

double parse_real(std::string_view text, std::string_view place) {
  std::string_view magnitude = trim(text);
  const bool negative = magnitude.starts_with('-');
  if (negative || magnitude.starts_with('+')) magnitude.remove_prefix(1);
  const std::string word = to_lower(magnitude);
  double value = 0.0;
  if (word == "inf" || word == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    value = read_real(magnitude, place, real_number);
  }
  return negative ? -value : value;
}

bool parse_bool(std::string_view text, std::string_view place) {
  static constexpr std::array<std::string_view, 4> yes{"1", "true", "yes", "on"};
  static constexpr std::array<std::string_view, 4> no{"0", "false", "no", "off"};
  const std::string word = to_lower(trim(text));
  if (contains(yes, word)) return true;
  if (contains(no, word)) return false;
  refuse(text, place, Kind{"yes or no", "1, true, yes, on or 0, false, no, off", {}}, "no such word");
}

Seconds parse_duration(std::string_view text, std::string_view place) {
  std::string_view rest = trim(text);
  if (rest.empty()) refuse(text, place, duration, "it is empty");
  double total = 0.0;
  while (!rest.empty()) {
    const auto end = first_term(rest);
    total += read_real(rest.substr(0, end), place, duration);
    rest = trim(rest.substr(end));
  }
  return seconds(total);
}

std::variant<Flops, AcceleratorTime> parse_compute(std::string_view text, std::string_view place) {
  const double value = read_real(text, place, compute);
  if (read(text, place, compute).unit->name.starts_with("gpu-")) return AcceleratorTime{seconds(value)};
  return flops(value);
}

FlopRate parse_flop_rate(std::string_view text, std::string_view place) {
  return flops_per_second(read_real(text, place, flop_rate));
}

Bandwidth parse_bandwidth(std::string_view text, std::string_view place) {
  return bytes_per_second(read_real(text, place, bandwidth));
}

Power parse_power(std::string_view text, std::string_view place) { return watts(read_real(text, place, power)); }

CarbonIntensity parse_carbon_intensity(std::string_view text, std::string_view place) {
  return grams_per_kilowatt_hour(read_real(text, place, carbon_intensity));
}

}  // namespace llmcalc::quantity
