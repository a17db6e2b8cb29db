// Quantization of a handful of numbers to integers, shown step by step.
#pragma once

#include "llmcalc/formats/dtype.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::formats {

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
