#include "catch.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/measured.hpp"

using namespace llmcalc;
using Catch::Matchers::Contains;

TEST_CASE("a row becomes words with their places, a measure and a value") {
  const auto runs = read::read_measured(
      "id,model,seq,gpu,quantity,value,step,quality\nr1,llama-3-8b,4096,,peak_allocated,123,first,A\n", "runs.csv");
  REQUIRE(runs.size() == 1);
  const auto& run = runs.front();
  CHECK(run.id == "r1");
  CHECK(run.measure == read::Measure::peak_allocated);
  CHECK(run.value == 123.0);
  CHECK(run.first_step);
  REQUIRE(run.question.size() == 2);
  CHECK(run.question[1].term == "seq");
  CHECK(run.question[1].text == "4096");
  CHECK(run.question[1].origin.where == "runs.csv:2:seq");
  CHECK(read::cell(run, "quality") == "A");
  CHECK(read::cell(run, "gpu").empty());
}

TEST_CASE("mistakes in a file are named with line and nearest name") {
  CHECK_THROWS_WITH(read::read_measured("", "r.csv"), Contains("no header"));
  CHECK_THROWS_WITH(read::read_measured("hiden,quantity,value\n", "r.csv"), Contains("r.csv:1") && Contains("hidden"));
  CHECK_THROWS_WITH(read::read_measured("hidden,quantity\n", "r.csv"), Contains("'value' is missing"));
  CHECK_THROWS_WITH(read::read_measured("quantity,value\npeak_alocated,1\n", "r.csv"),
                    Contains("r.csv:2:quantity") && Contains("peak_allocated"));
  CHECK_THROWS_WITH(read::read_measured("quantity,value\npersistent,many\n", "r.csv"), Contains("r.csv:2:value"));
  CHECK_THROWS_WITH(read::read_measured("quantity,value\npersistent\n", "r.csv"), Contains("1 cells and the header 2"));
}
