// llmcalc validate: a row is answered as the same words of fit, and every published row can be answered.
#include "catch.hpp"
#include "cli/files.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string printed(const std::vector<std::string>& words) { return cli::run(words, cli::Environment{}).answer; }

json validation_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  return json::parse(printed(words));
}

const std::string runs = LLMCALC_TEST_DATA "/golden/validate-text/runs.csv";
const std::string litgpt = LLMCALC_TEST_DATA "/measured/litgpt.csv";

}  // namespace

TEST_CASE("the prediction for a row is what fit says to the same words") {
  const auto rows = validation_of({"validate", runs})["rows"];
  const auto memory = validation_of(
      {"fit",
       "--model",
       "mistral-7b-v0.1",
       "--framework",
       "hf",
       "--framework-version",
       "HF Trainer/TRL SFT via fms-hf-tuning (torch 2.4.1, transformers 4.48.1, peft 0.13.2, bnb 0.43.3); 2025",
       "--method",
       "full",
       "--weights",
       "bf16",
       "--compute",
       "bf16",
       "--grads",
       "bf16",
       "--optimizer",
       "adamw",
       "--optimizer-impl",
       "foreach",
       "--optimizer-states",
       "bf16",
       "--seq",
       "4096",
       "--micro-batch",
       "4",
       "--grad-accum",
       "1",
       "--recompute",
       "full",
       "--attention",
       "flash",
       "--loss",
       "standard",
       "--gpu",
       "a100-80-sxm",
       "--gpus",
       "1"})["memory"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["predicted"] == memory["peak_allocated_bytes"]);
  CHECK(rows[1]["predicted"] == memory["persistent_bytes"]);
}

TEST_CASE("every published row can be answered") {
  for (const auto& file : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/measured")) {
    if (file.path().extension() != ".csv") continue;
    CAPTURE(file.path().filename().string());
    const auto validation = validation_of({"validate", file.path().string()});
    CHECK(validation["skipped"] == json::array());
    CHECK(validation["rows"].size() + validation["judged"].size() > 0);
  }
}

TEST_CASE("rows that contradict themselves alike are skipped for one reason") {
  const test::Folder folder;
  const std::string file = folder.write("alike.csv",
                                        "model,gpu,gpus,pp,vpp,quantity,value\n"
                                        "llama-3-8b,h100-sxm,8,8,8,step_time,1\n"
                                        "llama-3-8b,h100-sxm,8,8,8,step_time,2\n"
                                        "llama-3-8b,h100-sxm,8,8,1,step_time,3\n");
  const auto skipped = validation_of({"validate", file})["skipped"];
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0]["count"] == 2);
}

TEST_CASE("rows of which none can be answered are no validation") {
  const test::Folder folder;
  const std::string header = "model,gpu,gpus,pp,vpp,quantity,value\n";
  const std::string bad = "llama-3-8b,h100-sxm,8,8,8,step_time,1\n";
  const auto none = folder.write("none.csv", header + bad + bad);
  const auto some = folder.write("some.csv", header + bad + "llama-3-8b,h100-sxm,8,8,1,step_time,1\n");
  CHECK_THROWS_WITH(printed({"validate", none}), Contains("none of 2 rows can be answered"));
  CHECK(validation_of({"validate", some})["skipped"].size() == 1);
  CHECK(validation_of({"validate", some})["rows"].size() == 1);
}

TEST_CASE("what a cell holds never reaches a terminal as a command") {
  const test::Folder folder;
  const auto file = folder.write("red.csv",
                                 "id,model,gpu,quantity,value,source\n"
                                 "\x1B[31mred,llama-3-8b,h100-sxm,step_time,1,\x1B]0;title\x07\n"
                                 "b,\x1B[2Jllama,h100-sxm,step_time,1,\xC2\x9B"
                                 "31m\n");
  for (const std::string format : {"text", "markdown"}) {
    const auto text = printed({"validate", file, "--by", "source", "--format", format});
    CHECK(text.find('\x1B') == std::string::npos);
    CHECK(text.find('\x07') == std::string::npos);
    CHECK(text.find("\xC2\x9B") == std::string::npos);
    CHECK_THAT(text, Contains("\\x1B[31mred"));
  }
}

TEST_CASE("filters hold together and groups share out what they leave") {
  const auto all = validation_of({"validate", litgpt})["summary"]["n"].get<int>();
  const auto lora = validation_of({"validate", litgpt, "--where", "method=lora", "--by", "quality"});
  const auto both = validation_of({"validate", litgpt, "--where", "method=lora", "--where", "quality=A"});
  CHECK(lora["summary"]["n"].get<int>() < all);
  int grouped = 0;
  for (const auto& group : lora["groups"]) {
    grouped += group["n"].get<int>();
    if (group["value"] == "A") CHECK(group["n"] == both["summary"]["n"]);
  }
  CHECK(grouped == lora["summary"]["n"].get<int>());
  CHECK(validation_of({"validate", litgpt, "--where", "id=nothing like it"})["summary"]["n"] == 0);
  CHECK(validation_of({"validate", runs, "--where", "step="})["judged"].size() == 1);
}

TEST_CASE("a filter keeps the rows whose cell holds its text somewhere, and without a text those that leave it blank") {
  const auto table = read::read_csv(cli::read_file(litgpt, litgpt), litgpt);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(table[0].cells, name) - table[0].cells.begin());
  };
  const auto judged = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"validate", litgpt};
    words.insert(words.end(), more.begin(), more.end());
    std::set<std::string> ids;
    const json answer = validation_of(words);
    for (const auto& row : answer["rows"]) ids.insert(row["id"].get<std::string>());
    return ids;
  };
  const auto all = judged({});
  for (const auto& [name, text] : {std::pair("model", "llama"),
                                   {"model", "7b"},
                                   {"params", ""},
                                   {"gpu", "a100"},
                                   {"id", "rt-0"},
                                   {"micro_batch", ""}}) {
    CAPTURE(name, text);
    std::set<std::string> kept;
    for (const auto& row : std::span(table).subspan(1)) {
      const std::string& id = row.cells[column("id")];
      const std::string& cell = row.cells[column(name)];
      const bool holds = *text == 0 ? cell.empty() : cell.find(text) != std::string::npos;
      if (holds && all.contains(id)) kept.insert(id);
    }
    CHECK_FALSE(kept.size() == all.size());
    CHECK(judged({"--where", std::string(name) + "=" + text}) == kept);
  }
}

TEST_CASE("several files are one set of rows") {
  const auto one = validation_of({"validate", runs})["summary"]["n"].get<int>();
  const auto other = validation_of({"validate", litgpt})["summary"]["n"].get<int>();
  CHECK(validation_of({"validate", runs, litgpt})["summary"]["n"].get<int>() == one + other);
}

TEST_CASE("what cannot be asked of a file is named") {
  CHECK_THROWS_WITH(printed({"validate"}), Contains("needs a file"));
  CHECK_THROWS_WITH(printed({"validate", "no such.csv"}), Contains("cannot read 'no such.csv'"));
  CHECK_THROWS_WITH(printed({"validate", runs, "--where", "quality"}), Contains("COLUMN=TEXT"));
  CHECK_THROWS_WITH(printed({"validate", runs, "--where", "qualty=A"}), Contains("did you mean 'quality'"));
  CHECK_THROWS_WITH(printed({"validate", runs, "--by", "methd"}), Contains("did you mean 'method'"));
  CHECK_THROWS_WITH(printed({"validate", runs, "--format", "yaml"}), Contains("text, json, markdown"));
}
