#include "quantity/format.hpp"

#include "quantity/elementary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

namespace llmcalc::quantity {

namespace {

/// A unit and the size from which on it is used.
struct Step {
  double from;
  double one;
  std::string_view name;
  int decimals;  ///< shown at most
};

constexpr double largest_in_full = 1e15;  // above it an exponent reads better than six groups of digits

/// Fixed notation with at most `decimals` decimals, no zeros behind them, thousands grouped: 4,200 and 33.6.
std::string fixed(double value, int decimals) {
  if (!(std::abs(value) < largest_in_full)) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  const bool negative = value < 0.0 && text != "0";
  for (auto end = std::min(text.find('.'), text.size()); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return (negative ? "-" : "") + text;
}

/// How many decimals show three significant digits, so that 4,200 and 33.6 and 0.331 are equally exact.
int decimals_for_three_digits(double value) {
  constexpr int most = 6;
  if (value == 0.0 || !std::isfinite(value)) return 0;
  return std::clamp(2 - static_cast<int>(std::floor(quantity::log10(std::abs(value)))), 0, most);
}

std::string three_digits(double value) { return fixed(value, decimals_for_three_digits(value)); }

/// The largest step that a value reaches once it is rounded as the step below would round it, so that 999,999,999
/// parameters are 1B and not 1000M.
const Step& step_for(double value, std::span<const Step> largest_first) {
  for (std::size_t i = 0; i + 1 < largest_first.size(); ++i) {
    const auto& below = largest_first[i + 1];
    const double rounding = 0.5 * quantity::pow(10.0, -below.decimals) * below.one;
    if (std::abs(value) >= largest_first[i].from - rounding) return largest_first[i];
  }
  return largest_first.back();
}

std::string with_step(double value, std::span<const Step> largest_first) {
  const auto& step = step_for(value, largest_first);
  return fixed(value / step.one, step.decimals) + std::string(step.name);
}

std::string with_three_digits(double value, std::span<const Step> largest_first) {
  const auto& step = step_for(value, largest_first);
  return three_digits(value / step.one) + std::string(step.name);
}

constexpr Step count_steps[] = {{1e13, 1e12, "T", 1}, {1e12, 1e12, "T", 2}, {1e10, 1e9, "B", 1},
                                {1e9, 1e9, "B", 2},   {1e7, 1e6, "M", 1},   {1e6, 1e6, "M", 2},
                                {1e4, 1e3, "k", 1},   {1e3, 1e3, "k", 2},   {0, 1, "", 0}};

/// 8.03B, 124.4M: two decimals below ten, one above.
std::string short_count(double value) { return with_step(value, count_steps); }

}  // namespace

constexpr Step binary_steps[] = {{0x1p40, 0x1p40, " TiB", 1},
                                 {0x1p30, 0x1p30, " GiB", 2},
                                 {0x1p20, 0x1p20, " MiB", 1},
                                 {0x1p10, 0x1p10, " KiB", 1},
                                 {0, 1, " B", 0}};

std::string format_gib(Bytes b) { return with_step(static_cast<double>(in_bytes(b)), binary_steps); }

std::string format_gigabytes(Bytes b) { return three_digits(in_gigabytes(b)) + " GB"; }

std::string format_count(std::int64_t n) {
  std::string text = std::to_string(n);
  const std::size_t first_digit = n < 0 ? 1 : 0;
  for (auto end = text.size(); end > first_digit + 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string format_parameters(Parameters p) { return short_count(static_cast<double>(in_parameters(p))); }

std::string format_tokens(Tokens t) { return short_count(in_tokens(t)); }

std::string format_flops(Flops f) { return fmt::format("{:.3g} FLOP", in_flops(f)); }

constexpr Step rate_steps[] = {{1e19, 1e18, " EFLOP/s", 0},
                               {1e16, 1e15, " PFLOP/s", 0},
                               {1e12, 1e12, " TFLOP/s", 0},
                               {1e9, 1e9, " GFLOP/s", 0},
                               {0, 1, " FLOP/s", 0}};

std::string format_rate(FlopRate r) { return with_three_digits(in_flops_per_second(r), rate_steps); }

std::string format_bandwidth(Bandwidth b) {
  static constexpr Step steps[] = {
      {1e13, 1e12, " TB/s", 0}, {1e9, 1e9, " GB/s", 0}, {1e6, 1e6, " MB/s", 0}, {0, 1, " B/s", 0}};
  return with_three_digits(in_bytes_per_second(b), steps);
}

constexpr double minute = 60.0;
constexpr double seconds_per_year = 365.25 * seconds_per_day;
constexpr Step time_steps[] = {{10 * seconds_per_year, seconds_per_year, " years", 0},
                               {2 * seconds_per_day, seconds_per_day, " days", 0},
                               {2 * seconds_per_hour, seconds_per_hour, " h", 0},
                               {2 * minute, minute, " min", 0},
                               {1, 1, " s", 0},
                               {1e-3, 1e-3, " ms", 0},
                               {0, 1e-6, " us", 0}};

std::string format_duration(Seconds s) { return with_three_digits(in_seconds(s), time_steps); }

constexpr double cents_matter_below = 100.0;

std::string format_money(Money m) {
  const double value = in_dollars(m);
  if (std::abs(value) < cents_matter_below) return fmt::format("{}${:.2f}", value < 0 ? "-" : "", std::abs(value));
  return (value < 0 ? "-$" : "$") + fixed(std::abs(value), 0);
}

std::string format_rate_of_money(Money an_hour) {
  constexpr double tenths_of_cents = 1000.0;
  const double dollars = in_dollars(an_hour);
  const bool is_whole_cents = std::llround(dollars * tenths_of_cents) % 10 == 0;
  constexpr double cent = 0.01;
  if (dollars > 0 && dollars < cent) return fmt::format("${:.2g}", dollars);
  return is_whole_cents || dollars >= 1 ? format_money(an_hour) : fmt::format("${:.3f}", dollars);
}

std::string format_power(Power p) {
  static constexpr Step steps[] = {{1e6, 1e6, " MW", 0}, {1e4, 1e3, " kW", 0}, {0, 1, " W", 0}};
  return with_three_digits(in_watts(p), steps);
}

std::string format_energy(Energy e) {
  static constexpr Step steps[] = {
      {1e7, 1e6, " GWh", 0}, {1e4, 1e3, " MWh", 0}, {1, 1, " kWh", 0}, {0, 1e-3, " Wh", 0}};
  return with_three_digits(in_kilowatt_hours(e), steps);
}

std::string format_mass(Mass m) {
  static constexpr Step steps[] = {{1e4, 1e3, " t", 0}, {1, 1, " kg", 0}, {0, 1e-3, " g", 0}};
  return with_three_digits(in_kilograms(m), steps);
}

std::string format_percent(double share) { return three_digits(share * 100.0) + " %"; }

std::string format_number(double value, int significant_digits) {
  constexpr int most = 17;  // identify a double
  return fmt::format("{:.{}g}", value, std::clamp(significant_digits, 1, most));
}

std::string format_counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", format_count(n), what, n == 1 ? "" : "s");
}

std::string format_counted(double n, std::string_view what) {
  return fmt::format("{} {}{}", format_number(n, 4), what, n == 1.0 ? "" : "s");
}

}  // namespace llmcalc::quantity
