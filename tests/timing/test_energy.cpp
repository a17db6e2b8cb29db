// Against the energy that was published for GPT-3, BLOOM and Llama 3.1.
#include "catch.hpp"
#include "llmcalc/spec/question.hpp"
#include "timing/energy.hpp"

using namespace llmcalc;
using quantity::grams_per_kilowatt_hour;
using quantity::hours;
using quantity::in_kilograms;
using quantity::in_kilowatt_hours;
using quantity::watts;

TEST_CASE("energy and carbon are those that were published") {
  // Patterson et al. 2021, table 4: 10,000 V100 for 14.8 days at 330 W, PUE 1.1, 0.429 kg/kWh: 1,287 MWh, 552 t
  const auto gpt3 = timing::facility_energy(hours(14.8 * 24 * 10'000), watts(330), timing::default_pue);
  CHECK(in_kilowatt_hours(gpt3) == Approx(1'287e3).epsilon(0.005));
  CHECK(in_kilograms(gpt3 * grams_per_kilowatt_hour(429)) == Approx(552e3).epsilon(0.005));
  // Luccioni et al. 2022, arXiv:2211.02001: 1,082,990 A100 hours at 400 W, 57 g/kWh: 433 MWh, 24.7 t
  const auto bloom = timing::facility_energy(hours(1'082'990), watts(400), 1.0);
  CHECK(in_kilowatt_hours(bloom) == Approx(433.2e3).epsilon(0.001));
  CHECK(in_kilograms(bloom * grams_per_kilowatt_hour(57)) == Approx(24.7e3).epsilon(0.002));
  // Llama 3.1 model card: 30.84M H100 hours at 700 W, 8,930 t location-based; 39.3M hours and 11,390 t over all sizes
  const auto llama = timing::facility_energy(hours(30.84e6), watts(700), 1.0);
  const auto intensity = grams_per_kilowatt_hour(1000.0 * 11'390e3 / (39.3e6 * 0.7));
  CHECK(in_kilograms(llama * intensity) == Approx(8'930e3).epsilon(0.002));
}

TEST_CASE("the default draw is between the accelerator's rating and the server's") {
  spec::Accelerator gpu;
  CHECK_FALSE(timing::server_power(gpu).has_value());
  gpu.tdp_watts = 700.0;
  const double drawn = quantity::in_watts(timing::server_power(gpu).value());
  CHECK(drawn == Approx(0.76 * 10'200 / 8));
  // Latif et al. 2024, arXiv:2412.08602: at most 8.4 kW of eight H100
  CHECK(drawn < 8'400.0 / 8);
  CHECK(drawn > 700.0);
}
