// A calibration is read as it was written, and refused with its place otherwise.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "read/typed.hpp"

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

constexpr auto good = R"({"calibration": [{"framework": "hf", "memory": {"runs": 7, "factor": 1.25, "bar": 0.04}}]})";

std::string calibration_mistake(const std::string& text) {
  try {
    read::read_calibration(text, "mine.json");
  } catch (const quantity::BadInput& error) {
    return error.place() + ": " + error.problem();
  }
  return {};
}

}  // namespace

TEST_CASE("a calibration says of a framework how far its runs were off") {
  const auto runs = read::read_calibration(good, "mine.json");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].framework == spec::Framework::hf);
  CHECK(runs[0].calibration.memory.factor == 1.25);
  CHECK_FALSE(runs[0].calibration.time.is_known());
  read::Catalogue catalogue;
  CHECK(catalogue.own_runs(spec::Framework::hf) == nullptr);
  catalogue.calibrate(runs);
  CHECK(catalogue.own_runs(spec::Framework::hf)->calibration.memory.runs == 7);
  CHECK(catalogue.own_runs(spec::Framework::megatron) == nullptr);
}

TEST_CASE("what is no calibration is refused with its place") {
  CHECK_THAT(calibration_mistake("[]"), Contains("mine.json: is no calibration"));
  CHECK_THAT(calibration_mistake("{"), Contains("mine.json:byte"));
  const auto one = [](const std::string& entry) { return calibration_mistake(R"({"calibration": [)" + entry + "]}"); };
  CHECK_THAT(one(R"({"memory": {"runs": 7, "factor": 1, "bar": 0.1}})"), Contains("no \"framework\""));
  CHECK_THAT(one(R"({"framework": "hff"})"), Contains("mine.json:/calibration/0/framework"));
  CHECK_THAT(one(R"({"framework": "hf", "memory": {"runs": 4, "factor": 1, "bar": 0.1}})"), Contains("/memory/runs"));
  CHECK_THAT(one(R"({"framework": "hf", "memory": {"runs": 9, "factor": 0, "bar": 0.1}})"), Contains("/memory/factor"));
  CHECK_THAT(one(R"({"framework": "hf", "memory": {"runs": 9, "factor": 1}})"), Contains("no \"bar\""));
  CHECK_THAT(one(R"({"framework": "hf", "speed": {}})"), Contains("speed"));
  CHECK_THAT(one(R"({"framework": "hf"}, {"framework": "hf"})"), Contains("a second entry"));
  CHECK_THAT(calibration_mistake(R"({"calibration": [], "bias": 1})"), Contains("bias"));
}
