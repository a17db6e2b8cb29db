// Rows of the measured-run schema: what is the question, what is the answer, and which mistakes are named.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/rows.hpp"

#include <string>

using namespace llmcalc;
using Catch::Matchers::Contains;
using spec::Measure;
using spec::Step;

namespace {

std::vector<read::MeasuredRun> read_text(std::string csv) {
  read::MeasuredRows rows(std::move(csv), "runs.csv");
  std::vector<read::MeasuredRun> all;
  while (all.size() < rows.count()) all.push_back(rows.next());
  return all;
}

/// One row with that answer.
read::MeasuredRun answered(const std::string& measure, const std::string& value, const std::string& step = "") {
  return read_text("quantity,value,step\n" + measure + "," + value + "," + step + "\n").front();
}

}  // namespace

TEST_CASE("a row becomes words with their places, a measure and a value") {
  const auto runs = read_text(
      "id,model,seq,gpu,rank,quantity,value,step,quality\nr1,llama-3-8b,4096,,last,peak_allocated,123,first,A\n");
  REQUIRE(runs.size() == 1);
  const auto& run = runs.front();
  CHECK(run.id == "r1");
  CHECK(run.place == "runs.csv:2");
  CHECK(run.measure == Measure::peak_allocated);
  CHECK(run.value == 123.0);
  CHECK(run.step == Step::first);
  REQUIRE(run.question.size() == 3);
  CHECK(run.question[1].term == "seq");
  CHECK(run.question[1].text == "4096");
  CHECK(run.question[1].origin.source == read::Source::row);
  CHECK(run.question[1].origin.where == "runs.csv:2:seq");
  CHECK(run.question[2].term == "rank");
  CHECK(read::cell(run, "quality") == "A");
  CHECK(read::cell(run, "gpu").empty());
}

TEST_CASE("the number of parameters and where a row came from are no part of the question") {
  const auto runs =
      read_text("params,source,year,quality,notes,quantity,value\n7e9,a paper,2024,B,none,persistent,1\n");
  CHECK(runs.front().question.empty());
  CHECK(runs.front().cells.size() == 7);
}

TEST_CASE("a column may be written as its option") {
  const auto run = read_text("kv-heads,quantity,value\n8,persistent,1\n").front();
  CHECK(run.question.front().term == "kv_heads");
  CHECK(read::cell(run, "kv_heads") == "8");
  CHECK(read::column_name("micro-batch", "--where") == "micro_batch");
  CHECK(read::column_name("notes", "--where") == "notes");
  CHECK_THROWS_WITH(read::column_name("qualty", "--where"), Contains("--where") && Contains("'quality'"));
}

TEST_CASE("shorthands are columns too, but a file cannot be named") {
  const auto run = read_text("dtype,zero,quantity,value\nbf16,3,persistent,1\n").front();
  CHECK(run.question.size() == 2);
  CHECK_THROWS_WITH(read_text("config,quantity,value\n"), Contains("no column 'config'"));
}

TEST_CASE("values are read as people write them") {
  CHECK(answered("nvidia_smi", "40GiB").value == 40.0 * 1024 * 1024 * 1024);
  CHECK(answered("peak_reserved", "72434837504").value == 72434837504.0);
  CHECK(answered("tokens_per_gpu", "11.5e3").value == 11500.0);
  CHECK(answered("step_time", "0.25").value == 0.25);
  CHECK(answered("oom", "1").value == 1.0);
  CHECK(answered("persistent", "1").step == Step::steady);
  CHECK(answered("persistent", "1", "steady").step == Step::steady);
}

TEST_CASE("an answer that no run can have is refused") {
  CHECK_THROWS_WITH(answered("peak_alocated", "1"), Contains("runs.csv:2:quantity") && Contains("peak_allocated"));
  CHECK_THROWS_WITH(answered("", "1"), Contains("runs.csv:2:quantity"));
  CHECK_THROWS_WITH(answered("persistent", "1", "second"), Contains("runs.csv:2:step") && Contains("steady, first"));
  for (const char* value : {"", "0", "-1", "many", "nan", "inf", "1e30", "1.5", "9223372036854775807"}) {
    CAPTURE(value);
    CHECK_THROWS_WITH(answered("persistent", value), Contains("runs.csv:2:value"));
  }
  for (const char* value : {"0", "2", "yes"}) CHECK_THROWS_WITH(answered("fits", value), Contains("runs.csv:2:value"));
}

TEST_CASE("mistakes in a file are named with line and nearest name") {
  CHECK_THROWS_WITH(read_text(""), Contains("no header"));
  CHECK_THROWS_WITH(read_text("hiden,quantity,value\n"), Contains("runs.csv:1") && Contains("hidden"));
  CHECK_THROWS_WITH(read_text("hidden,quantity\n"), Contains("'value' is missing"));
  CHECK_THROWS_WITH(read_text("seq,quantity,value,seq\n"), Contains("'seq' is there twice"));
  CHECK_THROWS_WITH(read_text("kv_heads,quantity,value,kv-heads\n"), Contains("'kv_heads' is there twice"));
  CHECK_THROWS_WITH(read_text("quantity,value\npersistent\n"), Contains("1 cells and the header 2"));
  CHECK_THROWS_WITH(read_text("quantity,value\n\npersistent,1,2\n"), Contains("runs.csv:3"));
}

/// Who asks for hours of validation is told at once.
TEST_CASE("a mistake in any row is found before the first is answered") {
  constexpr int rows = 4;
  for (int broken = 0; broken < rows; ++broken) {
    for (const std::string bad : {"persistent,nan", "persistant,1", "persistent", "fits,2"}) {
      std::string csv = "quantity,value\n";
      for (int row = 0; row < rows; ++row) csv += (row == broken ? bad : "persistent,1GiB") + "\n";
      CAPTURE(csv);
      CHECK_THROWS_WITH(read::MeasuredRows(csv, "runs.csv"), Contains("runs.csv:" + std::to_string(broken + 2)));
    }
  }
}

TEST_CASE("a row is answered as the same words on the command line") {
  const auto run = read_text("model,framework,seq,layers,quantity,value\nllama-3-8b,hf,2048,12,persistent,1\n").front();
  const auto resolved = read::resolve(run.question, std::nullopt, read::Catalogue());
  CHECK(resolved.question.model.layer_count() == 12);
  CHECK(resolved.question.training.framework == spec::Framework::hf);
  CHECK(resolved.question.training.seq == 2048);
  CHECK_FALSE(resolved.question.gpu);
  const auto bad = read_text("model,seq,quantity,value\nllama-3-8b,long,persistent,1\n").front();
  CHECK_THROWS_WITH(read::resolve(bad.question, std::nullopt, read::Catalogue()), Contains("runs.csv:2:seq"));
}
