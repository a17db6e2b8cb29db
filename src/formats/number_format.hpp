// One number in a number format: its bits, the value that comes back, and what the format can hold.
//
//   3.14159265 in bf16:  0|10000000|1001001 = 3.140625, off by 0.000968 (0.031 %)
#pragma once

#include "llmcalc/formats/dtype.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::formats {

struct EncodedNumber {
  Dtype dtype = Dtype::fp32;
  double given = 0.0;
  std::uint64_t code = 0;       ///< the bits of the element as an unsigned number
  std::string bits;             ///< "0|10000000|1001001": sign, exponent, fraction; integers are two's complement
  std::optional<double> scale;  ///< of the block, for the formats that share one (MX)
  std::string scale_bits;       ///< "10000000"; empty without a scale
  double stored = 0.0;          ///< the value that comes back, scale included
  double absolute_error = 0.0;  ///< |stored - given|
  double relative_error = 0.0;  ///< of |given|; 0 when that is 0
  std::string_view remark;      ///< "overflowed to infinity", "rounded to zero", ...; empty if nothing is special
};

/// Range of the elements of a format; block formats include the largest and smallest scale.
struct NumberRange {
  Dtype dtype = Dtype::fp32;
  double lowest = 0.0;
  double max = 0.0;                     ///< largest finite value
  std::optional<double> min_normal;     ///< floating point only
  std::optional<double> min_subnormal;  ///< smallest positive value
  std::optional<double> epsilon;        ///< from 1 to the next larger value
  bool has_infinity = false;
  bool has_nan = false;
  std::string_view source;
};

/// The formats whose single numbers can be shown: fp64 fp32 tf32 fp16 bf16 fp8-e4m3 fp8-e5m2 int8 int4 nf4 mxfp8 mxfp4.
std::vector<Dtype> encodable_dtypes();

/// Rounds to the nearest value of the format, ties to even (IEEE 754-2019 section 4.3.1; the 16 values of nf4 have no
/// even ones: ties go down).
///
/// Past the largest value, IEEE formats become infinite; fp8 saturates, one of the two modes of OFP8 1.0 and the one
/// that GPUs have (PTX ISA, cvt.satfinite); fp4 and integers can only saturate. Integers and nf4 are taken with a
/// scale of 1. An MX format is a block of this one number, whose scale is 2^(floor(log2|x|) - emax) (OCP MX 1.0,
/// section 6.3).
/// \throws quantity::BadInput when the format has no encoding of its own or none for a NaN
EncodedNumber encode(Dtype dtype, double value);

/// The value of an element's code, in a block whose scale is 1.
/// \pre the format is encodable and the code no wider than its elements
double decode(Dtype dtype, std::uint64_t code);

/// \throws quantity::BadInput when the format has no encoding of its own
NumberRange number_range(Dtype dtype);

// Quantization of a handful of numbers to integers, shown step by step.

enum class QuantizationScheme {
  absmax,      ///< symmetric: the largest magnitude becomes the largest code
  zero_point,  ///< the whole range of the numbers, and of 0, is spread over as many codes below 0 as above
  affine       ///< the same over every code of two's complement, as integer kernels have it
};

struct Quantization {
  QuantizationScheme scheme = QuantizationScheme::absmax;
  Dtype dtype = Dtype::int8;
  double scale = 1.0;               ///< what one code is worth: x = scale * (code - zero_point)
  std::int64_t zero_point = 0;      ///< the code of 0
  std::vector<std::int64_t> codes;  ///< within -127..127 for int8, -7..7 for int4; affine from -128 or -8
  std::vector<double> dequantized;
  double max_error = 0.0;  ///< largest |dequantized - given|
  double mean_square_error = 0.0;
  std::string_view source;
};

/// Dettmers et al. 2022 (LLM.int8()), arXiv:2208.07339, section 2. With m = 127 (int8) or 7 (int4):
///   absmax:      scale = max|x| / m,                 code = round(x / scale)
///   zero point:  scale = (max x - min x) / 2m,       code = round(x / scale) + zero_point
/// and Jacob et al. 2018, arXiv:1712.05877, equations 1 and 2, of which courses show the int8 of -128 to 127:
///   affine:      scale = (max x - min x) / (2m + 1), code = round(x / scale) + zero_point
/// where the range of both is widened to hold 0, so that 0 comes back as 0 and has a code.
/// \throws quantity::BadInput when there are no numbers, one is not finite or beyond fp32, or `dtype` is neither
///         int8 nor int4
Quantization quantize(std::span<const double> numbers, QuantizationScheme scheme, Dtype dtype);

}  // namespace llmcalc::formats
