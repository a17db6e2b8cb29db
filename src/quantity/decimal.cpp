#include "quantity/inner/decimal.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace llmcalc::quantity {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide max_count = std::numeric_limits<std::int64_t>::max();
constexpr int max_power_of_ten = 38;    // 10^38 < 2^128
constexpr int exponent_limit = 100000;  // far outside every type; keeps sums of exponents inside an int

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

/// "1_000" and "1,000,000" but not "1,5": a comma that separates anything but thousands is a decimal comma.
std::optional<std::string> take_grouped_digits(std::string_view& text) {
  std::string digits(take_digits(text));
  if (digits.empty() || text.empty()) return digits;
  const char separator = text.front();
  if (separator != ',' && separator != '_') return digits;
  const bool thousands = separator == ',';
  if (thousands && digits.size() > 3) return std::nullopt;
  while (text.size() > 1 && text.front() == separator && is_digit(text[1])) {
    text.remove_prefix(1);
    const auto group = take_digits(text);
    if (thousands && group.size() != 3) return std::nullopt;
    digits += group;
  }
  return digits;
}

/// "e9", "E+9", "e-3". An 'e' without a number behind it is left for the unit.
int take_exponent(std::string_view& text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return 0;
  auto digits = text.substr(1);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || !is_digit(digits.front())) return 0;
  const auto magnitude = take_digits(digits);
  text = digits;
  int value = 0;
  const auto result = std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), value);
  if (result.ec != std::errc{} || value > exponent_limit) value = exponent_limit;
  return negative ? -value : value;
}

void normalise(Decimal& number) {
  auto& digits = number.digits;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) {
    number = {"0", 0};
    return;
  }
  const std::size_t significant = digits.find_last_not_of('0') + 1;
  number.exponent += static_cast<int>(digits.size() - significant);
  digits.resize(significant);
}

Wide power_of_ten(int exponent) {
  Wide power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// The whole number nearest to number x scale, halves rounded up; nothing when it leaves 64 bits.
std::optional<Whole> nearest_whole(const Decimal& number, Scale scale) {
  std::uint64_t mantissa = 0;
  const char* end = number.digits.data() + number.digits.size();
  if (std::from_chars(number.digits.data(), end, mantissa).ec != std::errc{}) return std::nullopt;
  Wide value = Wide{mantissa} * static_cast<Wide>(scale.factor);
  if (value == 0) return Whole{};
  int exponent = number.exponent + scale.ten;
  if (exponent < -max_power_of_ten) return Whole{0, false};
  for (; exponent > 0 && value <= max_count; --exponent) value *= 10;
  bool exact = true;
  if (exponent < 0) {
    const Wide divisor = power_of_ten(-exponent);
    const Wide remainder = value % divisor;
    exact = remainder == 0;
    value = value / divisor + (remainder >= divisor - remainder ? 1 : 0);
  }
  if (value > max_count) return std::nullopt;
  return Whole{static_cast<std::int64_t>(value), exact};
}

/// The double nearest to number x scale; nothing when it overflows or underflows.
std::optional<double> nearest_double(const Decimal& number, Scale scale) {
  const std::string text = number.digits + "e" + std::to_string(number.exponent + scale.ten);
  double value = 0.0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  value *= static_cast<double>(scale.factor);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string known_units(const Kind& kind) {
  const auto names = mapped_if(kind.units, &Unit::name, [](const Unit& unit) { return !unit.name.empty(); });
  return names.empty() ? "no unit" : joined(names, ", ");
}

std::string_view why_no_number(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.starts_with('-')) return "it is negative";
  const bool has_comma = text.find(',') != std::string_view::npos;
  return has_comma ? "a comma may only separate thousands, the decimal point is '.'"
                   : "it does not begin with a number";
}

}  // namespace

std::optional<Decimal> take_decimal(std::string_view& text) {
  std::string_view rest = text;
  auto digits = take_grouped_digits(rest);
  if (!digits) return std::nullopt;
  Decimal number{std::move(*digits), 0};
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const auto fraction = take_digits(rest);
    if (fraction.empty()) return std::nullopt;
    number.digits += fraction;
    number.exponent = -static_cast<int>(fraction.size());
  }
  if (number.digits.empty()) return std::nullopt;
  number.exponent += take_exponent(rest);
  normalise(number);
  text = rest;
  return number;
}

void refuse(std::string_view text, std::string_view place, const Kind& kind, std::string_view why) {
  throw BadInput(std::string(place), fmt::format("{} is not {}: {}", quoted(text), kind.noun, why),
                 fmt::format("write it like {}", kind.examples));
}

Written read(std::string_view text, std::string_view place, const Kind& kind) {
  std::string_view rest = trim(text);
  auto number = take_decimal(rest);
  if (!number) refuse(text, place, kind, why_no_number(rest));
  const std::string name = to_lower(trim(rest));
  const auto unit = std::ranges::find(kind.units, name, &Unit::name);
  if (unit != kind.units.end()) return {std::move(*number), &*unit};
  if (name.empty()) refuse(text, place, kind, fmt::format("it needs a unit ({})", known_units(kind)));
  refuse(text, place, kind, fmt::format("{} behind the number is none of {}", quoted(trim(rest)), known_units(kind)));
}

std::int64_t read_whole(std::string_view text, std::string_view place, const Kind& kind, Fraction fraction) {
  const auto written = read(text, place, kind);
  const auto whole = nearest_whole(written.number, written.unit->scale);
  if (!whole) refuse(text, place, kind, "it does not fit in 64 bits");
  const bool may_round = fraction == Fraction::rounded && !written.unit->name.empty();
  if (!whole->exact && !may_round) refuse(text, place, kind, "it is not a whole number");
  return whole->value;
}

double read_real(std::string_view text, std::string_view place, const Kind& kind) {
  const auto written = read(text, place, kind);
  if (const auto value = nearest_double(written.number, written.unit->scale)) return *value;
  refuse(text, place, kind, "it is outside the range of numbers that can be computed with");
}

}  // namespace llmcalc::quantity
