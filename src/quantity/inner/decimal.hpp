// A decimal number kept exactly as it was written, so that 1.5B is 1,500,000,000 and not what a double makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::quantity {

/// The non-negative number digits x 10^exponent. The digits carry no zero at either end, except "0" itself.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// What a unit multiplies a number by: factor x 10^ten. \pre 1 <= factor <= 2^50
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

/// The whole number nearest to number x scale, halves rounded up; nothing when it leaves 64 bits.
std::optional<Whole> nearest_whole(const Decimal& number, Scale scale);

/// The double nearest to number x scale; nothing when it overflows or underflows.
std::optional<double> nearest_double(const Decimal& number, Scale scale);

}  // namespace llmcalc::quantity
