#include "catch.hpp"
#include "quantity/format.hpp"
#include "quantity/parse.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace llmcalc::quantity;

TEST_CASE("Memory in binary units", "[format]") {
  CHECK(format_gib(gib(80)) == "80 GiB");
  CHECK(format_gib(bytes(13'250'000'000)) == "12.34 GiB");
  CHECK(format_gib(mib(512)) == "512 MiB");
  CHECK(format_gib(gib(1229)) == "1.2 TiB");
  CHECK(format_gib(gib(1) - bytes(1)) == "1 GiB");
  CHECK(format_gib(bytes(1)) == "1 B");
  CHECK(format_gib(bytes(0)) == "0 B");
  CHECK(format_gib(bytes(0) - gib(2)) == "-2 GiB");
}

TEST_CASE("Memory in decimal units keeps three digits and every whole one", "[format]") {
  CHECK(format_gigabytes(bytes(24'000'000'000)) == "24 GB");
  CHECK(format_gigabytes(bytes(330'000'000)) == "0.33 GB");
  CHECK(format_gigabytes(bytes(4'200'000'000'000)) == "4,200 GB");
  CHECK(format_gigabytes(bytes(33'624'000'000)) == "33.6 GB");
}

TEST_CASE("Counts", "[format]") {
  CHECK(format_count(8'030'261'248) == "8,030,261,248");
  CHECK(format_count(999) == "999");
  CHECK(format_count(-1000) == "-1,000");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
  CHECK(format_parameters(parameters(8'030'261'248)) == "8.03B");
  CHECK(format_parameters(parameters(124'439'808)) == "124.4M");
  CHECK(format_parameters(parameters(1'010'000'000'000)) == "1.01T");
  CHECK(format_parameters(parameters(7'000'000'000)) == "7B");
  CHECK(format_parameters(parameters(999'999'999)) == "1B");
  CHECK(format_parameters(parameters(995'000'000)) == "995M");
  CHECK(format_parameters(parameters(42)) == "42");
  CHECK(format_tokens(tokens(15e12)) == "15T");
  CHECK(format_tokens(tokens(1.4e12)) == "1.4T");
}

TEST_CASE("Work and rates", "[format]") {
  CHECK(format_flops(flops(3.143e23)) == "3.14e+23 FLOP");
  CHECK(format_rate(teraflops(312)) == "312 TFLOP/s");
  CHECK(format_rate(teraflops(989.4)) == "989 TFLOP/s");
  CHECK(format_rate(teraflops(16384 * 989.4)) == "16.2 EFLOP/s");
  CHECK(format_bandwidth(gigabytes_per_second(2039)) == "2,039 GB/s");
}

TEST_CASE("Time, money and shares", "[format]") {
  CHECK(format_duration(days(34)) == "34 days");
  CHECK(format_duration(hours(5.2)) == "5.2 h");
  CHECK(format_duration(seconds(720)) == "12 min");
  CHECK(format_duration(seconds(0.35)) == "350 ms");
  CHECK(format_duration(seconds(0)) == "0 us");
  CHECK(format_power(watts(969)) == "969 W");
  CHECK(format_energy(kilowatt_hours(48)) == "48 kWh");
  CHECK(format_energy(kilowatt_hours(1'287e3)) == "1,287 MWh");
  CHECK(format_mass(kilograms(25)) == "25 kg");
  CHECK(format_mass(kilograms(552e3)) == "552 t");
  CHECK(format_money(dollars(1234)) == "$1,234");
  CHECK(format_money(dollars(0.79)) == "$0.79");
  CHECK(format_rate_of_money(dollars(0.00035)) == "$0.00035");
  CHECK(format_rate_of_money(dollars(0.0018)) == "$0.0018");
  CHECK(format_rate_of_money(dollars(0.125)) == "$0.125");
  CHECK(format_percent(0.415) == "41.5 %");
  CHECK(format_percent(1) == "100 %");
}

TEST_CASE("Numbers take the shorter of two forms", "[format]") {
  CHECK(format_number(0.5, 3) == "0.5");
  CHECK(format_number(6.1035e-05, 3) == "6.1e-05");
  CHECK(format_number(65504, 6) == "65504");
}

TEST_CASE("Numbers that are none are printed as such", "[format]") {
  CHECK(format_flops(flops(std::numeric_limits<double>::infinity())) == "inf FLOP");
  CHECK(format_tokens(tokens(std::numeric_limits<double>::quiet_NaN())).find("nan") != std::string::npos);
}

TEST_CASE("What is printed can be read back", "[format]") {
  std::mt19937_64 random(20230317);
  std::uniform_real_distribution<double> exponent(0.5, 17.5);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::pow(10.0, exponent(random));
    const auto n = static_cast<std::int64_t>(value);
    CAPTURE(n);
    CHECK(parse_count(format_count(n), "n") == n);
    CHECK(parse_parameters(format_parameters(parameters(n)), "n") / parameters(n) == Approx(1).epsilon(0.006));
    CHECK(parse_bytes(format_gib(bytes(n)), "n") / bytes(n) == Approx(1).epsilon(0.05));
    CHECK(parse_duration(format_duration(seconds(value / 1e6)), "n") / seconds(value / 1e6) ==
          Approx(1).epsilon(0.006));
    CHECK(parse_flop_rate(format_rate(flops_per_second(value)), "n") / flops_per_second(value) ==
          Approx(1).epsilon(0.006));
    CHECK(parse_bandwidth(format_bandwidth(bytes_per_second(value)), "n") / bytes_per_second(value) ==
          Approx(1).epsilon(0.006));
    CHECK(std::get<Flops>(parse_compute(format_flops(flops(value)), "n")) / flops(value) == Approx(1).epsilon(0.006));
  }
}
