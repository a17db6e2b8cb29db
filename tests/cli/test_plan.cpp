// Plans on the command line: the same bytes however the work is divided, and what is refused.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using test::Folder;

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
const Words two_types{"--model", "llama-3.2-1b", "--gpu", "a100-80,h100-sxm", "--gpus",
                      "8",       "--seq",        "2k",    "--global-batch",   "16"};

}  // namespace

TEST_CASE("the answer does not depend on the number of threads") {
  for (const Words& words : {small, two_types}) {
    for (const char* format : {"text", "json", "csv"}) {
      const Words asked = plus(words, {"--format", format});
      const auto one = planned(plus(asked, {"--threads", "1"}));
      CHECK(one.answer == planned(plus(asked, {"--threads", "2"})).answer);
      CHECK(one.answer == planned(plus(asked, {"--threads", "5"})).answer);
      CHECK(one.answer.size() > 1000);
    }
  }
}

TEST_CASE("parts of a search merge to the bytes of one, in any order") {
  const Folder folder;
  for (const Words& words : {small, two_types}) {
    for (const std::string objective : {"step-time", "memory", "cost"}) {
      const Words asked = plus(words, {"--objective", objective, "--max-memory", "30GiB"});
      Words files{"--merge"};
      for (const std::string part : {"2/3", "0/3", "1/3"}) {
        files.push_back(folder.write("part" + part.substr(0, 1), planned(plus(asked, {"--shard", part})).answer));
      }
      for (const char* format : {"text", "json", "csv"}) {
        CHECK(planned(plus(files, {"--format", format})).answer == planned(plus(asked, {"--format", format})).answer);
      }
    }
  }
}

TEST_CASE("parts that do not make a whole are refused") {
  const Folder folder;
  const auto first = folder.write("first", planned(plus(small, {"--shard", "0/2"})).answer);
  const auto second = folder.write("second", planned(plus(small, {"--shard", "1/2"})).answer);
  const auto other = folder.write("other", planned(plus(two_types, {"--shard", "1/2"})).answer);
  auto broken = planned(plus(small, {"--shard", "1/2"})).answer;
  broken.replace(broken.find("\"choice\":[0,") + 9, 3, "[7,");
  CHECK(planned({"--merge", first, second}).code == ExitCode::fits);
  CHECK_THROWS_WITH(planned({"--merge", first}), Contains("part 1 of 2 is missing"));
  CHECK_THROWS_WITH(planned({"--merge", first, first}), Contains("which was there before"));
  CHECK_THROWS_WITH(planned({"--merge", first, other}), Contains("another search"));
  CHECK_THROWS_WITH(planned({"--merge", first, folder.write("text", "hello")}), Contains("no part of a plan"));
  CHECK_THROWS_WITH(planned({"--merge", first, folder.write("broken", broken)}), Contains("does not have"));
  CHECK_THROWS_WITH(planned({"--merge"}), Contains("needs files"));
}

TEST_CASE("what cannot be planned is refused at its place") {
  CHECK_THROWS_WITH(planned({"--params", "1e9", "--global-batch", "8"}), Contains("--gpu"));
  CHECK_THROWS_WITH(planned(plus(small, {"--grad-accum", "4"})), Contains("--grad-accum"));
  CHECK_THROWS_WITH(planned(plus(small, {"--mfu", "0.4"})), Contains("--mfu"));
  CHECK_THROWS_WITH(planned(plus(small, {"--tp", "1,x"})), Contains("--tp"));
  CHECK_THROWS_WITH(planned(plus(small, {"--tp", "1,,2"})), Contains("--tp"));
  CHECK_THROWS_WITH(planned(plus(small, {"--objective", "costs"})), Contains("did you mean 'cost'"));
  CHECK_THROWS_WITH(planned(plus(small, {"--shard", "3/3"})), Contains("--shard"));
  CHECK_THROWS_WITH(planned(plus(small, {"--table", "seq,sequence"})), Contains("--table"));
  CHECK_THROWS_WITH(planned(plus(small, {"--threads", "0"})), Contains("--threads"));
}

TEST_CASE("stages that no pipeline can have are refused before anything is built") {
  const Words base{"--model", "llama-3-8b", "--gpu", "h100-sxm:8", "--global-batch", "64"};
  CHECK_THROWS_WITH(planned(plus(base, {"--last-stage-layers", "100"})), Contains("--last-stage-layers"));
  CHECK_THROWS_WITH(planned(plus(base, {"--first-stage-layers", "31", "--last-stage-layers", "31"})),
                    Contains("-stage-layers"));
  CHECK_THROWS_WITH(planned(plus(base, {"--pp", "1", "--last-stage-layers", "4"})), Contains("one stage"));
  CHECK(planned(plus(base, {"--pp", "1,4", "--last-stage-layers", "5"})).code == ExitCode::fits);
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

TEST_CASE("the command for the best run asks about that run") {
  const auto plan = planned(plus(small, {"--framework", "megatron"})).answer;
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

TEST_CASE("a table has the best of each cell") {
  const auto table =
      planned(plus(small, {"--table", "micro-batch,recompute", "--micro-batch", "1,2", "--format", "csv"})).answer;
  CHECK_THAT(table, Contains("micro_batch,recompute,needed_bytes"));
  CHECK_THAT(table, Contains("\n2,full,"));
  const auto cell = planned(plus(small, {"--micro-batch", "2", "--recompute", "full", "--format", "csv"})).answer;
  const auto line = table.substr(table.find("\n2,full,") + 8);
  CHECK_THAT(cell, Contains(line.substr(0, line.find(','))));
}
