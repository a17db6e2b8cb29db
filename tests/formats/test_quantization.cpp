#include "catch.hpp"
#include "formats/number_format.hpp"
#include "llmcalc/quantity/error.hpp"

#include <cmath>
#include <limits>
#include <random>

using llmcalc::formats::Dtype;
using llmcalc::quantity::BadInput;
using namespace llmcalc::formats;
using Codes = std::vector<std::int64_t>;

namespace {

Quantization quantized(std::vector<double> numbers, QuantizationScheme scheme, Dtype dtype = Dtype::int8) {
  return quantize(numbers, scheme, dtype);
}

}  // namespace

TEST_CASE("The example by which the authors of LLM.int8() explain absmax", "[quantization]") {
  // Belkada and Dettmers 2022, "A Gentle Introduction to 8-bit Matrix Multiplication"
  const auto q = quantized({1.2, -0.5, -4.3, 1.2, -3.1, 0.8, 2.4, 5.4}, QuantizationScheme::absmax);
  CHECK(q.codes == Codes{28, -12, -101, 28, -73, 19, 56, 127});
  CHECK(1 / q.scale == Approx(23.5).epsilon(0.001));
  CHECK(q.zero_point == 0);
  CHECK(q.dequantized.back() == Approx(5.4));
}

// Zero stays a number that a code stands for, so that padding is exact (Jacob et al. 2018, arXiv:1712.05877
// section 2.1).
TEST_CASE("A range without zero is widened to it", "[quantization]") {
  const auto q = quantized({1.0, 2.0, 4.0}, QuantizationScheme::zero_point);
  CHECK(q.zero_point == -127);
  CHECK(q.codes.back() == 127);
  CHECK(q.scale == Approx(4.0 / 254.0));
}

TEST_CASE("The zero point spreads a one-sided range over all codes", "[quantization]") {
  const auto q = quantized({0.0, 1.0, 2.0, 2.54}, QuantizationScheme::zero_point);
  CHECK(q.scale == Approx(0.01));
  CHECK(q.zero_point == -127);
  CHECK(q.codes == Codes{-127, -27, 73, 127});
  CHECK(q.max_error == Approx(0).margin(1e-12));
  CHECK(quantized({0.0, 1.0, 2.0, 2.54}, QuantizationScheme::absmax).scale == Approx(0.02));
  const auto negative = quantized({-2.54, -2.0}, QuantizationScheme::zero_point);  // the range is widened to hold 0
  CHECK(negative.scale == Approx(0.01));
  CHECK(negative.codes == Codes{-127, -73});
  CHECK(negative.zero_point == 127);
}

// By hand from the paper's equations: x / scale is 119.53, -15.94 and 239.06, and -128 + 15.94 rounds to -112.
TEST_CASE("An affine code spreads the range over all of two's complement", "[quantization]") {
  const auto q = quantized({1.5, -0.2, 3.0}, QuantizationScheme::affine);
  CHECK(q.scale == Approx(3.2 / 255));
  CHECK(q.zero_point == -112);
  CHECK(q.codes == Codes{8, -128, 127});
  CHECK(quantized({-8.0, 7.0}, QuantizationScheme::affine, Dtype::int4).codes == Codes{-8, 7});
}

TEST_CASE("int4 has fifteen codes", "[quantization]") {
  const auto q = quantized({-7.0, 3.4, 7.0}, QuantizationScheme::absmax, Dtype::int4);
  CHECK(q.codes == Codes{-7, 3, 7});
  CHECK(q.max_error == Approx(0.4));
  CHECK(q.mean_square_error == Approx(0.16 / 3));
}

TEST_CASE("Zero comes back as zero and no error exceeds one step", "[quantization]") {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal(0.3, 2.0);
  for (const auto scheme : {QuantizationScheme::absmax, QuantizationScheme::zero_point, QuantizationScheme::affine}) {
    for (const auto dtype : {Dtype::int8, Dtype::int4}) {
      std::vector<double> numbers{0.0};
      for (int i = 0; i < 1000; ++i) numbers.push_back(normal(random));
      const auto q = quantize(numbers, scheme, dtype);
      CHECK(q.dequantized.front() == 0.0);
      // Half a step by rounding; the rounded zero point may push one end half a step out of the codes.
      CHECK(q.max_error <= q.scale * (scheme == QuantizationScheme::absmax ? 0.5 : 1.0) * (1 + 1e-9));
      CHECK(q.mean_square_error == Approx(q.scale * q.scale / 12).epsilon(0.15));  // uniform rounding error
    }
  }
}

TEST_CASE("Degenerate lists", "[quantization]") {
  for (const auto scheme : {QuantizationScheme::absmax, QuantizationScheme::zero_point, QuantizationScheme::affine}) {
    CHECK(quantized({0.0, -0.0}, scheme).max_error == 0.0);
    CHECK(quantized({5.0}, scheme).dequantized.front() == Approx(5.0));
    CHECK(quantized({-5.0}, scheme).dequantized.front() == Approx(-5.0));
    CHECK(std::isfinite(quantized({3e38, -3e38}, scheme).mean_square_error));
    CHECK(quantized({5e-324}, scheme).max_error == 5e-324);  // less than a step of any scale
    CHECK(quantized({5e-324}, scheme).scale > 0.0);
  }
}

TEST_CASE("What cannot be quantized is refused", "[quantization]") {
  CHECK_THROWS_AS(quantized({}, QuantizationScheme::absmax), BadInput);
  CHECK_THROWS_AS(quantized({1.0, std::numeric_limits<double>::quiet_NaN()}, QuantizationScheme::absmax), BadInput);
  CHECK_THROWS_AS(quantized({std::numeric_limits<double>::infinity()}, QuantizationScheme::zero_point), BadInput);
  CHECK_THROWS_AS(quantized({1e39}, QuantizationScheme::absmax), BadInput);
  CHECK_THROWS_AS(quantized({1.0}, QuantizationScheme::absmax, Dtype::nf4), BadInput);
}
