#include "read/inner/numbers.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <charconv>
#include <iterator>

namespace llmcalc::read {

std::int64_t check_range(std::int64_t value, std::int64_t min, std::int64_t max, std::string_view text,
                         std::string_view place) {
  if (value >= min && value <= max) return value;
  throw quantity::BadInput(std::string(place), quantity::quoted(text) + " is out of range: expected " +
                                                   std::to_string(min) + " to " + std::to_string(max));
}

double check_limits(double value, double min, double max, std::string_view text, std::string_view place) {
  if (value >= min && value <= max) return value;
  const bool any_above_zero = min <= std::numeric_limits<double>::min();
  throw quantity::BadInput(std::string(place),
                           quantity::quoted(text) + " is out of range: expected " +
                               (any_above_zero ? "more than 0 and at most " : write_double(min) + " to ") +
                               write_double(max));
}

std::optional<std::int64_t> tokens_of_batch(std::string_view text, std::string_view place) {
  constexpr std::string_view unit = "tokens";
  text = quantity::trim(text);
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  return quantity::parse_count(quantity::trim(text), place);
}

std::string write_double(double value) {
  char buffer[32];  // the shortest text that reads back as the same double has at most 24 characters
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value);
  return {buffer, end.ptr};
}

}  // namespace llmcalc::read
