// Files of questions: the same ones in CSV, in YAML and in JSON.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/rows.hpp"

#include <string>

using namespace llmcalc;
using Catch::Matchers::Contains;
using read::read_run_rows;

namespace {

std::string said(const read::RunRow& row) {
  std::string text = row.name + ":";
  for (const auto& word : row.words) text += " " + word.term + "=" + word.text;
  return text;
}

}  // namespace

TEST_CASE("rows of questions read the same in CSV, YAML and JSON") {
  const auto csv = read_run_rows("id,model,gpu,micro-batch\na,llama-3.2-1b,h100-sxm:8,2\nb,gpt2,,\n", "runs.csv");
  const auto yaml = read_run_rows(
      "- {id: a, model: llama-3.2-1b, gpu: \"h100-sxm:8\", micro-batch: 2}\n- id: b\n  model: gpt2\n", "runs.yaml");
  const auto json = read_run_rows(
      R"({"runs": [{"id": "a", "model": "llama-3.2-1b", "gpu": "h100-sxm:8", "micro_batch": 2},
                   {"id": "b", "model": "gpt2"}]})",
      "runs.json");
  for (const auto& rows : {csv, yaml, json}) {
    REQUIRE(rows.size() == 2);
    CHECK(said(rows[0]) == "a: model=llama-3.2-1b gpu=h100-sxm:8 micro_batch=2");
    CHECK(said(rows[1]) == "b: model=gpt2");
  }
}

TEST_CASE("a row without an id has its place as its name, and each word its own") {
  const auto rows = read_run_rows("- model: gpt2\n- model: llama-3.2-1b\n  seq: 2048\n", "runs.yml");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "runs.yml:1");
  CHECK(rows[1].words[1].origin.where == "runs.yml:3");
}

TEST_CASE("a file that holds no questions says what one looks like") {
  CHECK_THROWS_WITH(read_run_rows("model: gpt2\n", "runs.yaml"), Contains("no list of runs"));
  CHECK_THROWS_WITH(read_run_rows("- gpt2\n", "runs.yaml"), Contains("no table of options"));
  CHECK_THROWS_WITH(read_run_rows("model,gpu\n", "runs.csv"), Contains("no rows"));
  CHECK_THROWS_WITH(read_run_rows("model,gpu\ngpt2\n", "runs.csv"), Contains("runs.csv:2"));
  CHECK_THROWS_WITH(read_run_rows("micro-batch,micro_batch\n1,2\n", "runs.csv"),
                    Contains("runs.csv:1") && Contains("twice"));
  CHECK(read_run_rows("model,,\ngpt2,,\n", "runs.csv").size() == 1);
}

TEST_CASE("a trace of requests is read in the order of its arrivals, from its first") {
  const auto requests = read::read_requests("id,output,arrival,prompt\nb,20,12.5,200\na,10,10,100\n", "trace.csv");
  REQUIRE(requests.size() == 2);
  CHECK((requests[0].arrival == 0 && requests[0].prompt == 100 && requests[0].output == 10));
  CHECK((requests[1].arrival == 2.5 && requests[1].prompt == 200 && requests[1].output == 20));
  const auto refused = [](const char* text) { read::read_requests(text, "trace.csv"); };
  CHECK_THROWS_WITH(refused("arrival,prompt\n0,100\n"), Contains("trace.csv:2") && Contains("has no output"));
  CHECK_THROWS_WITH(refused("arrival,prompt,output\n0,0,5\n"), Contains("trace.csv:2:prompt"));
  CHECK_THROWS_WITH(refused("arrival,prompt,output\n-1,5,5\n"), Contains("trace.csv:2:arrival"));
  CHECK_THROWS_WITH(refused("arrival,prompt,output\n"), Contains("has no rows"));
}
