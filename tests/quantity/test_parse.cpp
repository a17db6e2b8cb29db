#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/parse.hpp"

#include <cmath>
#include <string>

using namespace llmcalc::quantity;

namespace {

std::int64_t count(std::string_view text) { return parse_count(text, "--n"); }
std::int64_t params(std::string_view text) { return in_parameters(parse_parameters(text, "--params")); }
std::int64_t memory(std::string_view text) { return in_bytes(parse_bytes(text, "--memory")); }
std::int64_t length(std::string_view text) { return parse_length(text, "--seq"); }
double absolute_tokens(std::string_view text) { return in_tokens(std::get<Tokens>(parse_tokens(text, "--tokens"))); }

}  // namespace

TEST_CASE("Parameters are exact integers however they are written", "[parse]") {
  CHECK(params("7b") == 7'000'000'000);
  CHECK(params("1.5B") == 1'500'000'000);
  CHECK(params("1e9") == 1'000'000'000);
  CHECK(params("1E+9") == 1'000'000'000);
  CHECK(params("350M") == 350'000'000);
  CHECK(params("1.01T") == 1'010'000'000'000);
  CHECK(params("6.738415616B") == 6'738'415'616);
  CHECK(params("8,030,261,248") == 8'030'261'248);
  CHECK(params(" 124_439_808 ") == 124'439'808);
  CHECK(params("9007199254740993") == 9'007'199'254'740'993);  // 2^53 + 1: no double holds it
  CHECK(params("9223372036854775807") == INT64_MAX);
}

TEST_CASE("A device's memory is no handful of bytes: the unit was forgotten", "[parse]") {
  CHECK(parse_capacity("80GB", "--memory") == bytes(80'000'000'000));
  CHECK(parse_capacity("85899345920", "--memory") == gib(80));
  CHECK_THROWS_WITH(parse_capacity("24", "--memory"),
                    "--memory: '24' is not an amount of memory: no device has so little; a unit may be missing; "
                    "write it like 80GiB, 80GB or 24G (= GiB)");
}

TEST_CASE("What is not a whole number of things is refused, never rounded", "[parse]") {
  CHECK_THROWS_AS(count("1.5"), BadInput);
  CHECK_THROWS_AS(count("1e-3"), BadInput);
  CHECK_THROWS_AS(count("1.0000001M"), BadInput);
  CHECK_THROWS_AS(params("0"), BadInput);
  CHECK_THROWS_WITH(params("1.5"),
                    "--params: '1.5' is not a number of parameters: it is not a whole number; "
                    "write it like 1e9, 7b or 350M");
}

TEST_CASE("Whatever is no number, or none that fits, is refused", "[parse]") {
  for (const auto* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "nan",
                           "inf",
                           "abc",
                           "1q",
                           "0x10",
                           "1e",
                           "1e9e9",
                           "5.",
                           "1..2",
                           "1.2.3",
                           "1 2",
                           "B",
                           "9223372036854775808",
                           "1e19",
                           "1e999999999999",
                           "99999999999999999999",
                           "1B1",
                           "\xc3\xa9"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_parameters(text, "--params"), BadInput);
  }
  CHECK_THROWS_AS(count(std::string(100'000, '9')), BadInput);
  CHECK_THROWS_AS(count(std::string_view("1\0", 2)), BadInput);
}

TEST_CASE("A comma separates thousands or nothing", "[parse]") {
  CHECK(count("1,000") == 1000);
  CHECK(count("12,345,678") == 12'345'678);
  for (const auto* text : {"1,5", "1,00", "1,0000", "1234,567", "1,000,00", ",100", "1,,000", "1,000_000", "1.000,5"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(count(text), Catch::Matchers::Contains("--n: '"));
  }
  CHECK(count("1_0") == 10);
  CHECK_THROWS_AS(count("1__0"), BadInput);
  CHECK_THROWS_AS(count("1_"), BadInput);
}

TEST_CASE("k is 1024 in lengths and 1000 in counts", "[parse]") {
  CHECK(length("8k") == 8192);
  CHECK(length("64K") == 65536);
  CHECK(length("8Ki") == 8192);
  CHECK(length("1.5k") == 1536);
  CHECK(length("4096") == 4096);
  CHECK(length("1M") == 1048576);
  CHECK_THROWS_AS(length("1B"), BadInput);
  CHECK_THROWS_AS(length("8kB"), BadInput);
  CHECK(count("8k") == 8000);
  CHECK(count("32") == 32);
  CHECK(count("1e3") == 1000);
}

TEST_CASE("Memory: GB is decimal, GiB binary, and a bare G is what vendors mean by it", "[parse]") {
  CHECK(memory("80GB") == 80'000'000'000);
  CHECK(memory("80 gb") == 80'000'000'000);
  CHECK(memory("80GiB") == 85'899'345'920);
  CHECK(memory("24G") == 25'769'803'776);
  CHECK(memory("512MiB") == 536'870'912);
  CHECK(memory("1024") == 1024);
  CHECK(memory("1024B") == 1024);
  CHECK(memory("1.5TiB") == 1'649'267'441'664);
  CHECK(memory("39.07GiB") == 41'951'093'064);  // 39.07 x 2^30 = 41951093063.68
  CHECK(memory("0.3GiB") == 322'122'547);       // 322122547.2
  CHECK_THROWS_AS(memory("80Gb"), BadInput);
  CHECK_THROWS_AS(memory("1.5"), BadInput);
  CHECK_THROWS_AS(memory("9e18KiB"), BadInput);
}

TEST_CASE("Tokens are absolute or a multiple of the parameters", "[parse]") {
  CHECK(absolute_tokens("15T") == 15e12);
  CHECK(absolute_tokens("300B") == 300e9);
  CHECK(absolute_tokens("1e12") == 1e12);
  CHECK(absolute_tokens("1.1B") == 1.1e9);
  for (const int ratio : {1, 5, 20, 192, 1'875}) {
    CHECK(std::get<TokensPerParameter>(parse_tokens(std::to_string(ratio) + "x", "--tokens")).ratio == ratio);
  }
  CHECK(std::get<TokensPerParameter>(parse_tokens("1.5X", "--tokens")).ratio == 1.5);
  CHECK_THROWS_AS(parse_tokens("0", "--tokens"), BadInput);
  CHECK_THROWS_AS(parse_tokens("x", "--tokens"), BadInput);
  CHECK_THROWS_AS(parse_tokens("1e400", "--tokens"), BadInput);
}

TEST_CASE("Shares and plain numbers", "[parse]") {
  CHECK(parse_share("0.4", "--mfu") == 0.4);
  CHECK(parse_share("40%", "--mfu") == 0.4);
  CHECK(parse_share("100 %", "--mfu") == 1.0);
  CHECK_THROWS_AS(parse_share("40", "--mfu"), BadInput);
  CHECK_THROWS_AS(parse_share("101%", "--mfu"), BadInput);
  CHECK(parse_number("2.5", "--x") == 2.5);
  CHECK(parse_number(".5", "--x") == 0.5);
  CHECK(parse_number("300B", "--x") == 300e9);
  CHECK_THROWS_AS(parse_number("nan", "--x"), BadInput);
}

TEST_CASE("A number to be encoded may have a sign and need not be finite", "[parse]") {
  CHECK(parse_real("-3.14159265", "--value") == -3.14159265);
  CHECK(parse_real("+1e-8", "--value") == 1e-8);
  CHECK(std::isinf(parse_real("-inf", "--value")));
  CHECK(std::isnan(parse_real("NaN", "--value")));
  CHECK_THROWS_AS(parse_real("--1", "--value"), BadInput);
}

TEST_CASE("Durations are sums of numbers with units", "[parse]") {
  const auto read = [](std::string_view text) { return in_seconds(parse_duration(text, "--time")); };
  CHECK(read("30d 12h 90min 45s") == 30 * 86400 + 12 * 3600 + 90 * 60 + 45);
  CHECK(read("2h30min") == 9000);
  CHECK(read("34 days") == 34 * 86400);
  CHECK(read("350 ms") == Approx(0.35));
  CHECK(read("1.5 h") == 5400);
  CHECK(read("1 week") == 7 * 86400);
  CHECK(read("1year") == 31'557'600);  // a Julian one (IAU)
  CHECK(read("2months") == 31'557'600 / 6);
  for (const auto* text : {"", "5", "h", "3 fortnights", "-5h", "5h 3", "5h -3h"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_duration(text, "--time"), BadInput);
  }
}

TEST_CASE("Compute is work or accelerator time", "[parse]") {
  const auto work = [](std::string_view text) { return in_flops(std::get<Flops>(parse_compute(text, "--compute"))); };
  CHECK(work("3.2e23") == 3.2e23);
  CHECK(work("3.2e23 FLOP") == 3.2e23);
  CHECK(work("1 ZFLOP") == 1e21);
  CHECK(work("3640 PFLOP-days") == Approx(3640 * 8.64e19));
  CHECK(in_hours(std::get<AcceleratorTime>(parse_compute("1,082,990 GPU-hours", "--compute")).time) ==
        Approx(1'082'990));
  CHECK_THROWS_AS(parse_compute("5 PFLOP/s", "--compute"), BadInput);
}

TEST_CASE("Rates", "[parse]") {
  CHECK(in_teraflops(parse_flop_rate("312 TFLOP/s", "--peak")) == Approx(312));
  CHECK(in_teraflops(parse_flop_rate("1.98e15", "--peak")) == Approx(1980));
  CHECK(in_gigabytes_per_second(parse_bandwidth("2039 GB/s", "--bandwidth")) == Approx(2039));
  CHECK(in_gigabytes_per_second(parse_bandwidth("3.35TB/s", "--bandwidth")) == Approx(3350));
  CHECK(in_watts(parse_power("700", "--power")) == 700);
  CHECK(in_watts(parse_power("10.2 kW", "--power")) == Approx(10'200));
  CHECK(in_grams_per_kilowatt_hour(parse_carbon_intensity("0.4 t/MWh", "--carbon-intensity")) == Approx(400));
}

TEST_CASE("Yes and no", "[parse]") {
  CHECK(parse_bool("1", "--sp"));
  CHECK(parse_bool("Yes", "--sp"));
  CHECK_FALSE(parse_bool("off", "--sp"));
  CHECK_THROWS_AS(parse_bool("2", "--sp"), BadInput);
}
