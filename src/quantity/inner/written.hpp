// A number with its unit, as a person wrote it, and the one way to refuse it.
#pragma once

#include "quantity/inner/decimal.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc::quantity {

struct Unit {
  std::string_view name;  ///< lower case; empty: no unit need be written
  Scale scale;
};

/// What a text is to be read as: enough for the parser to read it and for a message to explain it.
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
