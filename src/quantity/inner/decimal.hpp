// A decimal number kept exactly as it was written, so that 1.5B is 1,500,000,000 and not what a double makes of it;
// with its unit, and the one way to refuse it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc::quantity {

/// The non-negative number digits x 10^exponent. The digits carry no zero at either end, except "0" itself.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// Scale by which a unit multiplies a number: factor x 10^ten. \pre 1 <= factor <= 2^50
struct Scale {
  int ten = 0;
  std::int64_t factor = 1;
};

/// Takes the number at the front of `text`: "1.5B" leaves "B". Digits may be separated by '_' anywhere between two
/// of them, or by ',' where it can only mean thousands (1,000,000). Leaves `text` alone when there is no number.
std::optional<Decimal> take_decimal(std::string_view& text);

struct Whole {
  std::int64_t value = 0;
  bool exact = true;  ///< false when a fraction was rounded away
};

struct Unit {
  std::string_view name;  ///< lower case; empty: no unit need be written
  Scale scale;
};

/// Kind of number that a text is to be read as: enough for the parser to read it and for a message to explain it.
struct Kind {
  std::string_view noun;      ///< "a number of parameters"
  std::string_view examples;  ///< "1e9, 7b or 350M"
  std::span<const Unit> units;
};

struct Written {
  Decimal number;
  const Unit* unit = nullptr;  ///< one of the kind's units, never null after read()
};

/// \throws BadInput "place: 'text' is not <noun>: <why>; write it like <examples>"
[[noreturn]] void refuse(std::string_view text, std::string_view place, const Kind& kind, std::string_view why);

/// Reads "<number><unit>" and nothing else, white space between and around them allowed.
Written read(std::string_view text, std::string_view place, const Kind& kind);

enum class Fraction { refused, rounded };

/// read() as a whole number; a fraction is rounded to the nearest whole only where allowed and a unit was written.
std::int64_t read_whole(std::string_view text, std::string_view place, const Kind& kind,
                        Fraction fraction = Fraction::refused);

/// read() as a double.
double read_real(std::string_view text, std::string_view place, const Kind& kind);

}  // namespace llmcalc::quantity
