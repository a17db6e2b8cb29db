// The parsers of compound units: durations, amounts of compute and rates.
#include "quantity/inner/written.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::quantity {

namespace {

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
