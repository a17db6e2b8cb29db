// How the element of a number format becomes bits: one table, and the codes of its four families.
#pragma once

#include "formats/inner/small_float.hpp"
#include "llmcalc/formats/dtype.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace llmcalc::formats {

enum class EncodingFamily {
  floating,
  integer,      ///< two's complement
  codebook,     ///< nf4
  scaled_float  ///< a floating-point element under the power-of-two scale of its block (MX)
};

struct Encoding {
  Dtype dtype;
  EncodingFamily family;
  FloatFormat element;  ///< of floating and scaled_float
};

std::span<const Encoding> all_encodings();

/// \throws quantity::BadInput when one number has no bits of its own in this format
const Encoding& encoding_of(Dtype dtype);

/// The code of the nearest value under a scale of 1.
/// \throws quantity::BadInput for a NaN where the format has none
std::uint64_t nearest_code(const Encoding& encoding, double value);

double value_of_code(const Encoding& encoding, std::uint64_t code);

/// The lowest and highest finite value.
struct FiniteRange {
  double lowest;
  double highest;
};
FiniteRange finite_range(const Encoding& encoding);

/// "0|10000000|1001001": the fields of a code.
std::string bits_of(const Encoding& encoding, std::uint64_t code);

/// Fields of these widths, from the left.
std::string grouped_bits(std::uint64_t code, std::span<const int> widths);

}  // namespace llmcalc::formats
