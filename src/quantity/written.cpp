#include "quantity/inner/written.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace llmcalc::quantity {

namespace {

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
