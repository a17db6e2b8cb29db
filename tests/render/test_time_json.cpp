// Money in JSON: the price of an hour and what the run comes to are known apart.
#include "catch.hpp"
#include "render/sample_report.hpp"

#include <nlohmann/json.hpp>

using namespace llmcalc;

TEST_CASE("a run that never ends has a price an hour and no cost") {
  auto report = render::sample_report();
  const auto time = [&] { return nlohmann::json::parse(render::to_json(report)).at("time"); };
  report.estimate.compute.price = quantity::dollars(2.0);
  CHECK(time().at("cost_usd") == 1234.0);
  report.estimate.compute.cost.reset();
  CHECK(time().at("price_usd_per_gpu_hour") == 2.0);
  CHECK(time().at("cost_usd").is_null());
}
