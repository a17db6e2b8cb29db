// Plans on the command line: what is answered, and what is refused.
#include "catch.hpp"
#include "cli/run.hpp"
#include "folder.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

cli::Outcome planned(Words words) {
  words.insert(words.begin(), "plan");
  return cli::run(words, cli::Environment{});
}

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words small{"--params", "1e9", "--gpu", "a100-80:8", "--seq", "2k", "--global-batch", "16"};

}  // namespace

TEST_CASE("what cannot be planned is refused at its place") {
  CHECK_THROWS_WITH(planned({"--params", "1e9", "--global-batch", "8"}), Contains("--gpu"));
  CHECK_THROWS_WITH(planned(plus(small, {"--grad-accum", "4"})), Contains("--grad-accum"));
  CHECK_THROWS_WITH(planned(plus(small, {"--mfu", "0.4"})), Contains("--mfu"));
  CHECK_THROWS_WITH(planned(plus(small, {"--tp", "1,x"})), Contains("--tp"));
  CHECK_THROWS_WITH(planned(plus(small, {"--tp", "1,,2"})), Contains("--tp"));
  CHECK_THROWS_WITH(planned(plus(small, {"--objective", "costs"})), Contains("did you mean 'cost'"));
  CHECK_THROWS_WITH(planned(plus(small, {"--table", "seq,sequence"})), Contains("--table"));
  CHECK_THROWS_WITH(planned(plus(small, {"--top", "0"})), Contains("--top"));
  CHECK_THROWS_WITH(planned(plus(small, {"--largest", "batch"})), Contains("not one of seq, params"));
  CHECK_THROWS_WITH(planned({"llama-3.1-8b", "--gpu", "h100", "--largest", "params"}), Contains("leave the model out"));
}

TEST_CASE("what starts the best run is written into a folder, and read back as that run") {
  const test::Folder folder;
  const std::string there = folder.path() + "/launch";
  const Words base{"--model", "llama-3.2-1b", "--gpu", "h100-sxm:4", "--format", "json"};
  for (const std::string framework : {"deepspeed", "axolotl", "trl", "llama-factory"}) {
    CAPTURE(framework);
    const Words words = plus(base, {"--framework", framework, "--write", there});
    const auto plan = nlohmann::json::parse(planned(plus(words, {"--force"})).answer);
    CHECK_THROWS_WITH(planned(words), Contains("is there already") && Contains("--force"));
    const Words again{"fit", "--from", there + "/run.sh", "--gpu", "h100-sxm", "--format", "json"};
    const auto fit = nlohmann::json::parse(cli::run(again, cli::Environment{}).answer);
    CHECK(fit["needed_bytes"] == plan["best"][0]["figures"]["needed_bytes"]);
    std::ifstream script(there + "/run.sh");  // the other files stand beside it, and not in it again
    const std::string text{std::istreambuf_iterator<char>(script), {}};
    CHECK(text.starts_with("#!"));
    CHECK(text.find("<<END") == text.npos);
  }
  CHECK_THROWS_WITH(planned(plus(base, {"--framework", "torchtitan", "--method", "lora", "--write", there})),
                    Contains("no launch to write"));
  CHECK_THROWS_WITH(planned(plus(base, {"--framework", "trl", "--force"})), Contains("--write"));
}

TEST_CASE("stages that no pipeline can have are refused before anything is built") {
  const Words base{"--model", "llama-3-8b", "--gpu", "h100-sxm:8", "--global-batch", "64"};
  CHECK_THROWS_WITH(planned(plus(base, {"--last-stage-layers", "100"})), Contains("--last-stage-layers"));
  CHECK_THROWS_WITH(planned(plus(base, {"--first-stage-layers", "31", "--last-stage-layers", "31"})),
                    Contains("-stage-layers"));
  CHECK_THROWS_WITH(planned(plus(base, {"--pp", "1", "--last-stage-layers", "4"})), Contains("one stage"));
  CHECK(planned(plus(base, {"--pp", "1,4", "--last-stage-layers", "5"})).code == ExitCode::fits);
}

TEST_CASE("a plan is answered whichever word is left out, and its command is of the best run") {
  const std::vector<Words> optional{{"--seq", "2k"}, {"--global-batch", "16"}};
  for (const auto* row : frameworks::rows()) {
    for (const Words& model : {Words{"--model", "llama-3.2-1b"}, Words{"--params", "3e9"}}) {
      for (const std::string method : {"full", "lora", "qlora"}) {
        const Words base = plus(model, {"--gpu", "h100:4", "--framework", std::string(row->words.front()), "--method",
                                        method, "--top", "1", "--format", "json"});
        const auto answers = [&](const Words& words) {
          try {
            return planned(words).answer.find("\"fit_command\": \"llmcalc fit ") != std::string::npos;
          } catch (const quantity::BadInput&) {
            return false;
          }
        };
        Words all = base;
        for (const Words& words : optional) all = plus(all, words);
        if (!answers(all)) continue;
        CAPTURE(base);
        CHECK(answers(base));
        for (std::size_t left_out = 0; left_out < optional.size(); ++left_out) {
          Words others = base;
          for (std::size_t i = 0; i < optional.size(); ++i) {
            if (i != left_out) others = plus(others, optional[i]);
          }
          CHECK(answers(others));
        }
      }
    }
  }
}

TEST_CASE("a number with separators is no list by accident") {
  const Words base{"--params", "1e9", "--gpu", "a100-80:8", "--global-batch", "16"};
  CHECK_THROWS_WITH(planned(plus(base, {"--seq", "2,048"})), Contains("2048, or '2, 048'"));
  CHECK_THROWS_WITH(planned(plus(base, {"--seq", "8,192"})), Contains("8192"));
  CHECK_THROWS_WITH(planned(plus(small, {"--micro-batch", "1,024"})), Contains("--micro-batch"));
  CHECK_THROWS_WITH(planned({"--params", "1,000,000,000", "--gpu", "a100-80:8", "--global-batch", "16"}),
                    Contains("1000000000"));
  CHECK(planned(plus(base, {"--seq", "2048,4096"})).code == ExitCode::fits);
  CHECK(planned(plus(base, {"--seq", "512, 768"})).code == ExitCode::fits);
}

TEST_CASE("gradients follow the sharding that a search tries") {
  const Words base{"--params",       "1e9",       "--framework", "megatron-deepspeed",
                   "--gpu",          "a100-80:4", "--seq",       "1k",
                   "--global-batch", "8",         "--offload",   "none",
                   "--format",       "csv",       "--top",       "1",
                   "--pp",           "1",         "--tp",        "1"};
  const auto best = [&](const Words& more) { return planned(plus(base, more)).answer; };
  CHECK(best({"--sharding", "zero1"}) == best({"--sharding", "zero1", "--grads", "fp32"}));
  CHECK(best({"--sharding", "zero1"}) != best({"--sharding", "zero1", "--grads", "bf16"}));
  CHECK(best({"--sharding", "zero2"}) == best({"--sharding", "zero2", "--grads", "bf16"}));
  CHECK(best({"--sharding", "zero2"}) != best({"--sharding", "zero2", "--grads", "fp32"}));
}

TEST_CASE("when nothing fits the exit code says so") {
  const auto outcome = planned(plus(small, {"--max-memory", "1GiB"}));
  CHECK(outcome.code == ExitCode::does_not_fit);
  CHECK_THAT(outcome.answer, Contains("fits"));
}

TEST_CASE("where no layout keeps a limit of time or cost, what is named instead is kept") {
  const Words base = plus(small, {"--tokens", "100B"});
  for (const Words& limits :
       {Words{"--max-days", "0.01"}, {"--max-cost", "1"}, {"--max-days", "0.01", "--max-cost", "1"}}) {
    const auto outcome = planned(plus(base, limits));
    CHECK(outcome.code == ExitCode::does_not_fit);
    const auto first = outcome.answer.find("try       ") + 10;
    Words named;
    std::istringstream words(outcome.answer.substr(first, outcome.answer.find(':', first) - first));
    for (std::string word; words >> word;) named.push_back(word);
    CHECK(named.size() == limits.size());
    CHECK(planned(plus(base, named)).code == ExitCode::fits);
    const auto json = nlohmann::json::parse(planned(plus(plus(base, limits), {"--format", "json"})).answer);
    CHECK(json["best"].empty());
    CHECK(json["nearest"]["figures"]["total_seconds"].get<double>() > 864);
  }
  CHECK(nlohmann::json::parse(planned(plus(small, {"--format", "json"})).answer)["nearest"].is_null());
}

TEST_CASE("a limit that the nearest keeps is not named instead") {
  const auto outcome =
      planned(plus(small, {"--tokens", "100B", "--price", "0", "--max-cost", "1", "--max-days", "0.01"}));
  CHECK(outcome.answer.find("--max-days") != std::string::npos);
  CHECK(outcome.answer.find("--max-cost") == std::string::npos);
}

TEST_CASE("the command for the best run asks about that run") {
  const auto plan = planned(plus(small, {"--framework", "megatron", "--full"})).answer;
  const auto start = plan.find("llmcalc fit ") + 12;
  std::istringstream text(plan.substr(start, plan.find("\n\n", start) - start));
  Words words{"fit"};
  for (std::string word; text >> word;) {
    if (word != "\\") words.push_back(word);  // the line goes on
  }
  const auto fit = cli::run(words, cli::Environment{}).answer;
  const auto memory = plan.substr(plan.find(" of 79.25 GiB") - 5, 5);
  CHECK_THAT(fit, Contains(memory));
}

/// The options that an answer says it assumes, "--lora-targets q,v" of "--lora-targets q,v, TRL's".
Words assumed_by(const nlohmann::json& plan) {
  Words words;
  for (const auto& each : plan["assumptions"]) {
    std::istringstream text(each.get<std::string>());
    std::string option, value;
    text >> option >> value;
    if (!option.starts_with("--")) continue;
    words.push_back(option);
    words.push_back(value.substr(0, value.find_last_not_of(",;") + 1));
  }
  return words;
}

TEST_CASE("what a plan assumes leaves it alone when it is said, whatever machines it compares") {
  for (const auto* machines : {"4090", "4090,h100-sxm", "rtx-3090,a100-40,h100-sxm", "tpu-v7,h100-sxm"}) {
    for (const Words& run : {Words{"--method", "full"}, {"--method", "lora"}, {"--algorithm", "dpo"}}) {
      for (const Words& count : {Words{}, {"--gpus", "1,8"}}) {
        const Words asked = plus(plus({"--model", "gpt2-xl", "--gpu", machines, "--format", "json"}, run), count);
        const auto unsaid = nlohmann::json::parse(planned(asked).answer);
        const auto said = assumed_by(unsaid);
        CAPTURE(asked, said);
        CHECK(said.size() > 4);
        CHECK(nlohmann::json::parse(planned(plus(asked, said)).answer)["best"] == unsaid["best"]);
      }
    }
  }
}

/// One card alone would be run by accelerate, four of them by Megatron-LM.
TEST_CASE("what a comparison of machines assumes leaves it alone when it is said") {
  const Words asked{"--model", "llama-3.1-8b", "--gpu", "4090,h100-sxm", "--format", "json"};
  const auto unsaid = nlohmann::json::parse(planned(asked).answer);
  const auto said = nlohmann::json::parse(
      planned(plus(asked, {"--framework", "megatron", "--global-batch", "1024", "--tokens", "20x", "--seq", "4096"}))
          .answer);
  CHECK_THAT(unsaid["assumptions"].dump(), Contains("--framework megatron") && Contains("--global-batch 1024"));
  CHECK(unsaid["each"] == said["each"]);
  CHECK(unsaid["front"] == said["front"]);
}

/// Without a word on the batch one card would take one sequence 1,000 times, four of them 4M tokens a step.
TEST_CASE("runs that are compared do the same work, and the best one's command takes as long") {
  const auto both =
      nlohmann::json::parse(planned({"--model", "llama-3.1-8b", "--gpu", "4090,h100-sxm", "--format", "json"}).answer);
  const auto& each = both["each"];
  REQUIRE(each.size() == 2);
  const auto of = [&](std::size_t i, const char* figure) { return each[i]["figures"][figure].get<double>(); };
  const auto steps = [&](std::size_t i) { return of(i, "total_seconds") / of(i, "step_seconds"); };
  CHECK(steps(0) == Approx(steps(1)).epsilon(0.01));  // more cards fail more often
  Words words{"fit", "--format", "json"};
  std::istringstream command(both["fit_command"].get<std::string>().substr(std::string("llmcalc fit ").size()));
  for (std::string word; command >> word;) words.push_back(word);
  const auto fit = nlohmann::json::parse(cli::run(words, cli::Environment{}).answer);
  CHECK(fit["time"]["total_seconds"].get<double>() == Approx(of(0, "total_seconds")).epsilon(1e-4));
}

TEST_CASE("the longest sequence that fits fits, and the next does not") {
  const Words base{"--model", "llama-3.2-1b", "--gpu", "rtx-4090",  "--gpus", "1", "--global-batch",
                   "4",       "--dtype",      "bf16",  "--offload", "none"};
  const auto longest = planned(plus(base, {"--largest", "seq"})).answer;
  const auto at = longest.find("--seq ") + 6;
  const auto length = std::stoll(longest.substr(at, longest.find(' ', at) - at));
  CHECK(planned(plus(base, {"--seq", std::to_string(length)})).code == ExitCode::fits);
  CHECK(planned(plus(base, {"--seq", std::to_string(length + 1024)})).code == ExitCode::does_not_fit);
}

TEST_CASE("the fewest accelerators that fit are enough, and half of them are not") {
  const Words base{"--model", "llama-3-8b",     "--gpu", "a100-40",   "--seq",
                   "4k",      "--global-batch", "64",    "--offload", "none"};
  const auto plan = planned(plus(base, {"--objective", "gpus"})).answer;
  const auto at = plan.find(" x a100");
  const auto count = std::stoll(plan.substr(plan.rfind(' ', at - 1) + 1));
  CHECK(planned(plus(base, {"--gpus", std::to_string(count)})).code == ExitCode::fits);
  CHECK(planned(plus(base, {"--gpus", std::to_string(count / 2)})).code == ExitCode::does_not_fit);
}

/// Training costs 6 x 8.03e9 x 1e9 FLOP, 0.56 days of one H100 at its peak of 989 TFLOP/s.
TEST_CASE("the fewest accelerators that end in time do, and what their peak would not do is none") {
  const Words base{"--model", "llama-3-8b", "--gpu", "h100-sxm", "--tokens", "1B", "--global-batch", "64"};
  const auto with = [&](const char* days) {
    return nlohmann::json::parse(planned(plus(base, {"--max-days", days, "--format", "json"})).answer);
  };
  const auto in_time = with("0.05");
  const auto count = std::stoll(in_time["best"].at(0)["run"]["gpus"].get<std::string>());
  CHECK(count > 1);
  for (const auto& [gpus, code] : {std::pair(count, ExitCode::fits), {count / 2, ExitCode::does_not_fit}})
    CHECK(planned(plus(base, {"--max-days", "0.05", "--gpus", std::to_string(gpus)})).code == code);
  CHECK(with("1e-7")["best"].empty());
}

TEST_CASE("each cell of a table is the best of its own plan, whichever way it lies") {
  const Words words{"--model", "llama-3.2-1b", "--gpu", "h100:2", "--framework", "torchtitan", "--global-batch", "16"};
  const std::map<std::string, std::string> values{{"seq", "2k,4k,4M"}, {"micro-batch", "1,2"}};
  const auto asked = [&](const Words& more) {
    const auto outcome = planned(plus(plus(words, more), {"--format", "csv"}));
    return std::pair(read::read_csv(outcome.answer, "csv"), outcome.code);
  };
  for (const auto& [row, column] : {std::pair("seq", "micro-batch"), std::pair("micro-batch", "seq")}) {
    const std::string table = std::string(row) + "," + column;
    const auto [cells, code] =
        asked({"--table", table, "--seq", values.at("seq"), "--micro-batch", values.at("micro-batch")});
    CHECK(code == ExitCode::fits);  // though the last of them does not
    REQUIRE(cells.size() == 7);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const auto& cell = cells[i].cells;
      CAPTURE(table, cell);
      const auto [alone, fits] =
          asked({std::string("--") + row, cell[0], std::string("--") + column, cell[1], "--top", "1"});
      CHECK((fits == ExitCode::fits) == !cell[2].empty());
      if (fits != ExitCode::fits) continue;
      const auto& head = alone.at(0).cells;
      for (std::size_t at = 2; at < cell.size(); ++at) {
        const auto place = std::ranges::find(head, cells[0].cells[at]) - head.begin();
        CHECK(cell[at] == alone.at(1).cells.at(static_cast<std::size_t>(place)));
      }
    }
  }
  CHECK(asked({"--table", "seq,micro-batch", "--seq", "4M,8M", "--micro-batch", "1,2"}).second ==
        ExitCode::does_not_fit);
}

TEST_CASE("each line of a plan's CSV is the layout of that list and place in its JSON") {
  const std::map<std::string, std::string> figures{{"needed_bytes", "needed_bytes"},
                                                   {"step_time_s", "step_seconds"},
                                                   {"total_s", "total_seconds"},
                                                   {"cost_usd", "cost_usd"},
                                                   {"energy_kwh", "energy_kwh"}};
  for (const std::string gpu : {"h100-sxm:2", "mi300x:8", "rtx-4090:2"}) {
    CAPTURE(gpu);
    const std::vector<std::string> words{"--model", "qwen2.5-0.5b", "--gpu", gpu, "--top", "4", "--global-batch", "64"};
    const auto json = nlohmann::json::parse(planned(plus(words, {"--format", "json"})).answer);
    const auto csv = read::read_csv(planned(plus(words, {"--format", "csv"})).answer, "csv");
    REQUIRE(csv.size() > json["best"].size());
    const auto& head = csv.front().cells;
    for (std::size_t i = 1; i < csv.size(); ++i) {
      const auto& cells = csv[i].cells;
      REQUIRE(cells.size() == head.size());
      const auto& row = json.at(cells[0]).at(std::stoul(cells[1]) - 1);
      for (std::size_t at = 2; at < head.size(); ++at) {
        CAPTURE(head[at]);
        const auto figure = figures.find(head[at]);
        const auto said = figure == figures.end() ? row["run"].at(head[at]) : row["figures"].at(figure->second);
        if (said.is_number()) CHECK(std::stod(cells[at]) == said.get<double>());
        if (!said.is_number()) CHECK(cells[at] == (said.is_null() ? std::string() : said.get<std::string>()));
      }
    }
  }
}
