#include "read/words/network_rate.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

struct RateUnit {
  std::string_view name;
  double gigabits;
};

constexpr double bits = 8.0;
constexpr double tera = 1000.0;

/// Of these the case of the b decides.
constexpr RateUnit exact_units[] = {{"Gb/s", 1.0},  {"GB/s", bits},       {"GBps", bits},
                                    {"Tb/s", tera}, {"TB/s", bits* tera}, {"TBps", bits* tera}};
constexpr RateUnit bit_units[] = {{"gbps", 1.0}, {"gbit/s", 1.0}, {"tbps", tera}, {"tbit/s", tera}};

[[noreturn]] void refuse(std::string_view text, std::string_view place) {
  throw quantity::BadInput(std::string(place), "'" + std::string(text) +
                                                   "' is not the network of a node: expected a rate with its unit, "
                                                   "such as 400Gbps, 8x400Gbps or 50GB/s");
}

const RateUnit* find_unit(std::string_view name) {
  for (const RateUnit& unit : exact_units) {
    if (unit.name == name) return &unit;
  }
  for (const RateUnit& unit : bit_units) {
    if (unit.name == quantity::to_lower(name)) return &unit;
  }
  return nullptr;
}

double one_adapter(std::string_view rate, std::string_view text, std::string_view place) {
  const auto digits = std::min(rate.find_first_not_of("0123456789."), rate.size());
  const RateUnit* unit = find_unit(quantity::trim(rate.substr(digits)));
  if (digits == 0 || unit == nullptr) refuse(text, place);
  return quantity::parse_number(rate.substr(0, digits), place) * unit->gigabits;
}

}  // namespace

double parse_network_rate(std::string_view text, std::string_view place) {
  const auto times = text.find_first_of("xX");
  std::string_view rate = quantity::trim(text);
  double adapters = 1.0;
  if (times != std::string_view::npos) {
    const auto count = quantity::trim(text.substr(0, times));
    if (!quantity::is_number(count)) refuse(text, place);
    adapters = quantity::parse_number(count, place);
    rate = quantity::trim(text.substr(times + 1));
  }
  const double gigabits = adapters * one_adapter(rate, text, place);
  return check_limits(gigabits, std::numeric_limits<double>::min(), max_amount, text, place);
}

}  // namespace llmcalc::read
