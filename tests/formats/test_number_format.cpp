#include "catch.hpp"
#include "formats/number_format.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using llmcalc::formats::Dtype;
using llmcalc::quantity::BadInput;
using namespace llmcalc::formats;

namespace {

constexpr double pi = 3.14159265;
constexpr double infinity = std::numeric_limits<double>::infinity();

double stored(Dtype dtype, double value) { return encode(dtype, value).stored; }
std::string bits(Dtype dtype, double value) { return encode(dtype, value).bits; }

/// Every finite code must come back from its value, and the middle between neighbours must go to the even one: this
/// is the definition of rounding to nearest, ties to even, over the whole format.
void check_all_codes(Dtype dtype, std::uint64_t max_code, std::uint64_t sign_bit) {
  for (std::uint64_t code = 0; code <= max_code; ++code) {
    const double value = decode(dtype, code);
    const bool same = encode(dtype, value).code == code && encode(dtype, -value).code == (code | sign_bit);
    const bool ordered = code == 0 || value > decode(dtype, code - 1);
    if (!same || !ordered) FAIL("code " << code << " is " << value);
    if (code == max_code) break;
    const double middle = (value + decode(dtype, code + 1)) / 2;
    const std::uint64_t even = code % 2 == 0 ? code : code + 1;
    const bool nearest = encode(dtype, middle).code == even && encode(dtype, std::nextafter(middle, 0)).code == code &&
                         encode(dtype, std::nextafter(middle, infinity)).code == code + 1;
    if (!nearest) FAIL("above code " << code << ", " << value);
  }
  SUCCEED();
}

}  // namespace

TEST_CASE("Pi in every format of the lecture", "[number_format]") {
  CHECK(stored(Dtype::fp16, pi) == 3.140625);
  CHECK(stored(Dtype::bf16, pi) == 3.140625);
  CHECK(stored(Dtype::int8, pi) == 3);
  CHECK(stored(Dtype::int4, pi) == 3);
  CHECK(stored(Dtype::fp64, pi) == pi);
  CHECK(stored(Dtype::fp8_e4m3, pi) == 3.25);
  CHECK(stored(Dtype::fp8_e5m2, pi) == 3.0);
  const auto bf16 = encode(Dtype::bf16, pi);
  CHECK(bf16.bits == "0|10000000|1001001");
  CHECK(bf16.absolute_error == Approx(0.00096765));
  CHECK(bf16.relative_error == Approx(0.00030801).epsilon(1e-4));
  CHECK(bf16.remark.empty());
}

TEST_CASE("Bit patterns that IEEE 754 and its texts give", "[number_format]") {
  CHECK(bits(Dtype::fp16, 1.0) == "0|01111|0000000000");
  CHECK(bits(Dtype::fp16, -2.0) == "1|10000|0000000000");
  CHECK(encode(Dtype::fp16, 65504).code == 0x7BFF);
  CHECK(encode(Dtype::fp16, 1.0 / 3).code == 0x3555);
  CHECK(encode(Dtype::fp32, 0.15625).code == 0x3E200000);
  CHECK(encode(Dtype::fp64, 1.0).code == 0x3FF0000000000000);
  CHECK(bits(Dtype::tf32, 1.0) == "0|01111111|0000000000");
  CHECK(bits(Dtype::int8, -3.0) == "1|1111101");
  CHECK(bits(Dtype::fp16, -0.0) == "1|00000|0000000000");
}

TEST_CASE("All codes of the small formats come back and round to nearest even", "[number_format]") {
  check_all_codes(Dtype::fp16, 0x7BFF, 0x8000);
  check_all_codes(Dtype::bf16, 0x7F7F, 0x8000);
  check_all_codes(Dtype::fp8_e4m3, 0x7E, 0x80);
  check_all_codes(Dtype::fp8_e5m2, 0x7B, 0x80);
}

TEST_CASE("fp32 and fp64 are what this machine computes with", "[number_format]") {
  std::mt19937_64 random(754);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const bool same = encode(Dtype::fp32, value).code == single &&
                      encode(Dtype::fp64, value).code == std::bit_cast<std::uint64_t>(value);
    if (!same) FAIL("differs at " << value);
  }
  const double subnormal = std::numeric_limits<float>::denorm_min() * 1.5;
  CHECK(encode(Dtype::fp32, subnormal).code == 2);
  CHECK(encode(Dtype::fp32, subnormal).remark == "subnormal");
}

TEST_CASE("Past the largest value each format has its own rule", "[number_format]") {
  CHECK(stored(Dtype::fp16, 65519) == 65504);
  CHECK(stored(Dtype::fp16, 65520) == infinity);  // halfway to 2^16, and 65504 is odd
  CHECK(encode(Dtype::fp16, 1e5).remark == "overflowed to infinity");
  CHECK(stored(Dtype::bf16, -1e39) == -infinity);
  CHECK(stored(Dtype::fp8_e4m3, 1e3) == 448);
  CHECK(stored(Dtype::fp8_e4m3, -infinity) == -448);
  CHECK(stored(Dtype::fp8_e4m3, 465) == 448);  // its neighbour above would have the code of NaN
  CHECK(stored(Dtype::fp8_e5m2, 1e6) == 57344);
  CHECK(stored(Dtype::fp8_e5m2, 61440) == 57344);
  CHECK(encode(Dtype::fp8_e4m3, 1e3).remark == "clipped to the end of the range");
  CHECK(stored(Dtype::int8, 1e9) == 127);
  CHECK(stored(Dtype::int8, -infinity) == -128);
  CHECK(stored(Dtype::int4, -9) == -8);
  CHECK(stored(Dtype::nf4, 3.0) == 1.0);
  CHECK(stored(Dtype::nf4, -infinity) == -1.0);
}

/// Rounding to nearest keeps the order of numbers (IEEE 754-2019 section 4.3), and so does an end that clips.
TEST_CASE("of two numbers no format stores the larger one as less, from one end to the other", "[number_format]") {
  std::vector<double> numbers{0.0};
  for (int exponent = -1074; exponent <= 1023; exponent += exponent < -160 || exponent > 160 ? 40 : 1) {
    for (const double fraction : {1.0, 1.25, 1.5, 1.875, 1.9999}) {
      numbers.push_back(std::ldexp(fraction, exponent));
      numbers.push_back(-numbers.back());
    }
  }
  for (int whole = 1; whole < 300; ++whole) {
    numbers.push_back(whole);
    numbers.push_back(-whole);
  }
  std::ranges::sort(numbers);
  for (const Dtype dtype : encodable_dtypes()) {
    CAPTURE(facts(dtype).name);
    const NumberRange range = number_range(dtype);
    double before = -infinity;
    for (const double number : numbers) {
      const EncodedNumber encoded = encode(dtype, number);
      CAPTURE(number, encoded.stored, before);
      if (encoded.stored < before) FAIL_CHECK("a larger number is stored as less");
      if (std::isfinite(encoded.stored) && (encoded.stored < range.lowest || encoded.stored > range.max)) {
        FAIL_CHECK("beyond the range that is told of the format");
      }
      if (decode(dtype, encoded.code) * encoded.scale.value_or(1.0) != encoded.stored) {
        FAIL_CHECK("its bits are another number");
      }
      before = encoded.stored;
    }
  }
}

TEST_CASE("NaN stays NaN where there is one and is refused where there is none", "[number_format]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(encode(Dtype::fp8_e4m3, nan).code == 0x7F);
  CHECK(encode(Dtype::fp16, nan).code == 0x7E00);
  CHECK(std::isnan(stored(Dtype::bf16, nan)));
  CHECK(encode(Dtype::mxfp4, nan).scale_bits == "11111111");
  CHECK_THROWS_AS(encode(Dtype::int8, nan), BadInput);
  CHECK_THROWS_AS(encode(Dtype::nf4, nan), BadInput);
  CHECK(std::isnan(decode(Dtype::fp8_e5m2, 0x7D)));
  CHECK(decode(Dtype::fp8_e5m2, 0xFC) == -infinity);
}

TEST_CASE("Too small is zero, and says so", "[number_format]") {
  CHECK(stored(Dtype::fp16, 2.9e-8) == 0);
  CHECK(encode(Dtype::fp16, 2.9e-8).remark == "rounded to zero");
  CHECK(encode(Dtype::fp16, 2.9e-8).relative_error == 1);
  CHECK(encode(Dtype::fp16, 1e-7).remark == "subnormal");
  CHECK(encode(Dtype::fp16, 0.0).remark.empty());
}

TEST_CASE("E2M1 holds eight magnitudes", "[number_format]") {
  const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};  // OCP MX 1.0, table 5
  for (std::uint64_t code = 0; code < 8; ++code) {
    CHECK(decode(Dtype::mxfp4, code) == magnitudes[code]);
    CHECK(decode(Dtype::mxfp4, code + 8) == -magnitudes[code]);
  }
}

TEST_CASE("An MX block of one number takes the power of two below it", "[number_format]") {
  const auto number = encode(Dtype::mxfp4, pi);
  CHECK(*number.scale == 0.5);  // 2^(1 - 2)
  CHECK(number.scale_bits == "01111110");
  CHECK(number.bits == "0|11|1");
  CHECK(number.stored == 3.0);
  CHECK(number.remark == "clipped to the end of the range");  // 6.28 is more than E2M1 has
  CHECK(stored(Dtype::mxfp8, pi) == 3.25);
  CHECK(stored(Dtype::mxfp4, 1e-30) == Approx(1e-30).epsilon(0.25));
  CHECK(stored(Dtype::mxfp4, 0.0) == 0.0);
  CHECK(stored(Dtype::mxfp4, 1e300) == 6 * std::ldexp(1.0, 127));
}

TEST_CASE("NormalFloat rounds to the nearest of its sixteen values", "[number_format]") {
  CHECK(bits(Dtype::nf4, 0.0) == "0111");
  CHECK(bits(Dtype::nf4, -1.0) == "0000");
  CHECK(stored(Dtype::nf4, 0.5) == Approx(0.44070983));
  CHECK(stored(Dtype::nf4, 0.51) == Approx(0.562617));
  for (std::uint64_t code = 0; code < 16; ++code) CHECK(encode(Dtype::nf4, decode(Dtype::nf4, code)).code == code);
}

TEST_CASE("Ranges are those of the specifications", "[number_format]") {
  const auto fp16 = number_range(Dtype::fp16);
  CHECK(fp16.max == 65504);
  CHECK(*fp16.min_normal == std::ldexp(1.0, -14));
  CHECK(*fp16.min_subnormal == std::ldexp(1.0, -24));
  CHECK(*fp16.epsilon == std::ldexp(1.0, -10));
  const auto bf16 = number_range(Dtype::bf16);
  CHECK(bf16.max == Approx(3.3895314e38));
  CHECK(*bf16.epsilon == std::ldexp(1.0, -7));
  const auto e4m3 = number_range(Dtype::fp8_e4m3);  // OFP8 1.0, table 1
  CHECK(e4m3.max == 448);
  CHECK(*e4m3.min_normal == std::ldexp(1.0, -6));
  CHECK(*e4m3.min_subnormal == std::ldexp(1.0, -9));
  CHECK((!e4m3.has_infinity && e4m3.has_nan));
  const auto e5m2 = number_range(Dtype::fp8_e5m2);
  CHECK(e5m2.max == 57344);
  CHECK(*e5m2.min_normal == std::ldexp(1.0, -14));
  CHECK(*e5m2.min_subnormal == std::ldexp(1.0, -16));
  CHECK(e5m2.has_infinity);
  CHECK(number_range(Dtype::fp64).max == std::numeric_limits<double>::max());
  CHECK(number_range(Dtype::fp32).max == std::numeric_limits<float>::max());
  CHECK(*number_range(Dtype::fp64).min_subnormal == std::numeric_limits<double>::denorm_min());
  CHECK(number_range(Dtype::int8).lowest == -128);
  CHECK_FALSE(number_range(Dtype::int8).epsilon.has_value());
}

TEST_CASE("Layouts of whole tensors have no bits for one number", "[number_format]") {
  CHECK(encodable_dtypes().size() == 12);
  CHECK_THROWS_WITH(encode(Dtype::int4_gptq, 1.0), Catch::Matchers::Contains("'int4-gptq'"));
  CHECK_THROWS_AS(number_range(Dtype::nvfp4), BadInput);
}
