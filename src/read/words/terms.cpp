#include "read/words/terms.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"

namespace llmcalc::read {

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return quantity::contains(names, name);
}

std::vector<std::string> split_list(std::string_view text, std::string_view place) {
  const auto items = quantity::pieces_of(text, ",");
  const bool has_empty = text.empty() || text.ends_with(',') || quantity::contains(items, "");
  if (has_empty) throw quantity::BadInput(std::string(place), "a list may not have an empty item");
  return {items.begin(), items.end()};
}

std::string join_list(const std::vector<std::string>& items) { return quantity::joined(items, ","); }

namespace {

/// A word that another term takes, or that means several of this one's.
struct Astray {
  std::string_view word;
  std::string_view among;  ///< one of those that the term takes
  std::string_view hint;
};

constexpr Astray astray[] = {
#include "vocabulary/astray.inc"
};

std::string hint_for(std::string_view text, const std::vector<std::string_view>& known) {
  const std::string word = quantity::to_lower(text);
  const auto is_it = [&](const Astray& each) { return each.word == word && is_among(each.among, known); };
  const auto* row = quantity::find_if_or_null(astray, is_it);
  return row == nullptr ? quantity::did_you_mean(text, known) : std::string(row->hint);
}

}  // namespace

void throw_unknown_word(std::string_view text, std::string_view place, const std::vector<std::string_view>& known) {
  throw quantity::BadInput(std::string(place),
                           quantity::quoted(text) + " is not one of " + quantity::joined(known, ", "),
                           hint_for(text, known));
}

namespace {

struct RateUnit {
  std::string_view name;
  double gigabits;
};

constexpr double bits = 8.0;
constexpr double tera = 1000.0;

/// Units of which the case of the b decides.
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
