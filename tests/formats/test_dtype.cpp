#include "catch.hpp"
#include "llmcalc/formats/dtype.hpp"

#include <limits>

using namespace llmcalc::formats;
using llmcalc::quantity::in_bits_per_element;
using llmcalc::quantity::in_bytes;

namespace {

std::int64_t stored_bytes(Dtype dtype, std::int64_t elements) { return in_bytes(storage_bytes(dtype, elements)); }
double average(Dtype dtype) { return in_bits_per_element(average_bits(dtype)); }

}  // namespace

TEST_CASE("Bits per weight are those the formats' own documents state", "[dtype]") {
  CHECK(average(Dtype::fp32) == 32);
  CHECK(average(Dtype::tf32) == 32);
  CHECK(average(Dtype::bf16) == 16);
  CHECK(average(Dtype::nf4) == 4.5);             // QLoRA: 0.5 bits a parameter for constants
  CHECK(average(Dtype::nf4_dq) == 4.126953125);  // QLoRA: 0.127 bits with double quantization
  CHECK(average(Dtype::int4_gptq) == 4.15625);
  CHECK(average(Dtype::int8_gptq) == 8.1875);
  CHECK(average(Dtype::mxfp8) == 8.25);
  CHECK(average(Dtype::mxfp4) == 4.25);
  CHECK(average(Dtype::nvfp4) == 4.5);
}

TEST_CASE("Storage is exact to the byte, and partial blocks have whole scales", "[dtype]") {
  CHECK(stored_bytes(Dtype::fp32, 1'000'000'000) == 4'000'000'000);
  CHECK(stored_bytes(Dtype::int4, 3) == 2);
  CHECK(stored_bytes(Dtype::nf4, 64) == 32 + 4);
  CHECK(stored_bytes(Dtype::nf4, 65) == 33 + 8);
  CHECK(stored_bytes(Dtype::nf4_dq, 64 * 256) == 8192 + 256 + 4);
  CHECK(stored_bytes(Dtype::nf4_dq, 64 * 256 + 1) == 8193 + 257 + 8);
  CHECK(stored_bytes(Dtype::int4_gptq, 128) == 64 + 2 + 1);
  CHECK(stored_bytes(Dtype::int4_gptq, 256) == 128 + 4 + 1);
  CHECK(stored_bytes(Dtype::mxfp4, 32) == 17);  // the block of gpt-oss checkpoints: 16 bytes of blocks, 1 of scales
  CHECK(stored_bytes(Dtype::nvfp4, 16) == 8 + 1 + 4);
  for (const auto& facts : all_dtypes()) CHECK(stored_bytes(facts.dtype, 0) == 0);
}

TEST_CASE("A 65B model shrinks by double quantization as QLoRA says", "[dtype]") {
  const std::int64_t elements = 65'000'000'000;
  // QLoRA, section 3: about 3 GB saved for a 65B model.
  CHECK(static_cast<double>(stored_bytes(Dtype::nf4, elements) - stored_bytes(Dtype::nf4_dq, elements)) ==
        Approx(3.03e9).epsilon(0.002));
}

TEST_CASE("What is trained is no code: 8-bit floats have master copies, NF4 and GPTQ do not", "[dtype]") {
  for (const auto dtype : {Dtype::nf4, Dtype::nf4_dq, Dtype::int4_gptq, Dtype::int8}) CHECK(is_quantized(dtype));
  for (const auto dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp8_e4m3, Dtype::mxfp8, Dtype::nvfp4}) {
    CHECK_FALSE(is_quantized(dtype));
  }
}

TEST_CASE("Large tensors do not overflow on the way to a size that fits", "[dtype]") {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  CHECK(stored_bytes(Dtype::int8, largest) == largest);
  CHECK(stored_bytes(Dtype::bf16, largest / 2) == largest - 1);
  CHECK_THROWS_AS(storage_bytes(Dtype::bf16, largest), llmcalc::quantity::Overflow);
}

TEST_CASE("The bits of an element are its sign, exponent and fraction", "[dtype]") {
  for (const auto& f : all_dtypes()) {
    CAPTURE(f.name);
    CHECK_FALSE(f.source.empty());
    CHECK(&facts(f.dtype) == &f);
    const bool codebook = f.exponent_bits == 0 && f.fraction_bits == 0;
    const bool padded = f.dtype == Dtype::tf32;  // 19 bits in a 32-bit word
    CHECK((codebook || padded || 1 + f.exponent_bits + f.fraction_bits == f.bits));
  }
}
