// Many questions in one call, as pipelines ask them.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

using Words = std::vector<std::string>;

cli::Outcome fit(Words words) {
  words.insert(words.begin(), "fit");
  return cli::run(words, cli::Environment{});
}

}  // namespace

TEST_CASE("accelerators between commas are a line each, and one that does not fit decides") {
  const Words small{"--params", "1e9", "--dtype", "bf16", "--gpu", "a100,h100"};
  CHECK(fit(small).code == ExitCode::fits);
  const auto mixed = fit({"--params", "7e9", "--dtype", "bf16", "--gpu", "4090,b300"});
  CHECK(mixed.code == ExitCode::does_not_fit);
  CHECK_THAT(mixed.answer, Contains("4090") && Contains("does not fit") && Contains("b300"));
}

TEST_CASE("a list fails as the worst of its lines does alone, strict or not") {
  const std::vector<std::string> cards{"h200-sxm", "a100-40", "rtx-4090"};
  int tight = 0;
  for (const std::string params : {"1e9", "3e9"}) {
    for (const Words& more : {Words{}, Words{"--strict"}}) {
      const auto asked = [&](const std::string& gpu) {
        Words words{"--params", params, "--dtype", "bf16", "--framework", "hf", "--gpu", gpu};
        words.insert(words.end(), more.begin(), more.end());
        return fit(words);
      };
      for (std::size_t i = 0; i < cards.size(); ++i) {
        const auto& other = cards[(i + 1) % cards.size()];
        const auto one = asked(cards[i]);
        CAPTURE(params, more, cards[i], other);
        CHECK(asked(cards[i] + "," + other).code == std::max(one.code, asked(other).code));
        if (one.answer.starts_with("TIGHT")) ++tight;
      }
    }
  }
  CHECK(tight > 0);
}

namespace {

/// Cells of each line of a CSV, none of which holds a quote.
std::set<std::ptrdiff_t> cells_of(const std::string& csv) {
  std::set<std::ptrdiff_t> counts;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) counts.insert(std::ranges::count(line, ','));
  return counts;
}

}  // namespace

TEST_CASE("every line of a CSV has as many cells as its head") {
  const std::vector<Words> all{
      {"fit", "llama-3-8b", "--gpu", "a100-80,4090"},
      {"serve", "llama-3-8b", "--gpu", "a100-80,4090"},
      {"plan", "llama-3.2-1b", "--gpu", "h100-sxm:4", "--seq", "2k"},
      {"plan", "llama-3.2-1b", "--gpu", "h100-sxm:4", "--seq", "1k,2k", "--recompute", "none,full"}};
  for (Words words : all) {
    CAPTURE(words);
    words.insert(words.end(), {"--format", "csv"});
    CHECK(cells_of(cli::run(words, cli::Environment{}).answer).size() == 1);
  }
}
TEST_CASE("a question without an answer is a line with its error, and exit 2") {
  const auto outcome = fit({"--params", "1e9", "--gpu", "a100,nosuchcard", "--format", "csv"});
  CHECK(outcome.code == ExitCode::bad_question);
  CHECK_THAT(outcome.answer, Contains("a100,fits,") && Contains("nosuchcard,error,,,,,"));
}

TEST_CASE("rows of a file are questions, with what the command line says for all") {
  const Folder folder;
  const auto file =
      folder.write("runs.csv", "id,model,gpu,seq\nsmall,llama-3.2-1b,h100-sxm,2k\nlarge,llama-3-70b,4090,\n");
  const auto outcome = fit({"--rows", file, "--dtype", "bf16", "--framework", "hf", "--format", "junit"});
  CHECK(outcome.code == ExitCode::does_not_fit);
  CHECK_THAT(outcome.answer,
             Contains("tests=\"2\" failures=\"1\" errors=\"0\"") && Contains("name=\"large\"><failure"));
  CHECK_THROWS_WITH(fit({"--rows", folder.write("bad.csv", "gpu,seq\nh100\n")}), Contains("bad.csv:2"));
}

TEST_CASE("a list for a pipeline counts what it lists, and says what the same list says in JSON") {
  const auto listed = [](const std::string& form) {
    return fit({"--params", "7e9", "--dtype", "bf16", "--gpu", "4090,b300,a100-80,nosuchcard", "--format", form})
        .answer;
  };
  const auto text = listed("junit");
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return std::to_string(found);
  };
  CHECK_THAT(text, Contains("tests=\"" + count("<testcase ") + "\" failures=\"" + count("<failure ") + "\" errors=\"" +
                            count("<error ") + "\""));
  const auto gib = [](const nlohmann::json& bytes) { return fmt::format("{:.2f}", bytes.get<double>() / (1U << 30U)); };
  int failed = 0;
  const auto answer = nlohmann::json::parse(listed("json"));
  for (const auto& run : answer.at("runs")) {
    if (run["verdict"] != "does_not_fit") continue;
    ++failed;
    CHECK_THAT(text, Contains("needs " + gib(run["needed_bytes"]) + " of " + gib(run["capacity_bytes"]) +
                              " GiB, at most " + gib(run["high_bytes"])));
  }
  CHECK(failed == 2);
}

TEST_CASE("without an accelerator there is no verdict to be quiet or strict about") {
  CHECK(fit({"--params", "1e9"}).code == ExitCode::fits);
  CHECK_THROWS_WITH(fit({"--params", "1e9", "--quiet"}), Contains("--gpu"));
  CHECK_THROWS_WITH(fit({"--params", "1e9", "--strict"}), Contains("no verdict"));
}

namespace {

cli::Outcome asked(Words words) { return cli::run(words, cli::Environment{}); }

}  // namespace

TEST_CASE("each term of a sweep is tried around its value, and every word of a closed vocabulary, all else as asked") {
  const Words run{"fit", "llama-3-8b", "--gpu", "b200-sxm", "--seq", "4k", "--format", "csv", "--sweep"};
  const auto swept = [&](const std::string& terms) {
    auto words = run;
    words.push_back(terms);
    return asked(words).answer;
  };
  const auto both = swept("seq,recompute");
  CHECK_THAT(both, Contains("--seq 1024,") && Contains("--seq 4096 (as asked),") && Contains("--seq 16384,"));
  CHECK_THAT(both, Contains("--recompute full,") && Contains("--recompute none") && !Contains("every-N"));
  const auto alone = asked({"fit", "llama-3-8b", "--gpu", "b200-sxm", "--seq", "1k", "--format", "csv"}).answer;
  const auto figures = alone.substr(alone.find('\n') + 1 + std::string("b200-sxm").size());
  CHECK_THAT(both, Contains("--seq 1024" + figures));
  CHECK_THROWS_WITH(swept("seqq"), Contains("there is no term 'seqq'"));
  CHECK_THROWS_WITH(swept("model"), Contains("--model"));
}

TEST_CASE("servers and plans are asked by rows as well") {
  const Folder folder;
  const auto file = folder.write("runs.csv", "id,gpu\nlarge,h100-sxm\nsmall,4090\n");
  const auto served = asked({"serve", "llama-3.1-8b", "--context", "128k", "--rows", file, "--format", "csv"});
  CHECK(served.code == ExitCode::does_not_fit);
  CHECK_THAT(served.answer, Contains("large,fits,") && Contains("small,does_not_fit,"));
  const Words crowded{"serve", "llama-3-8b", "--gpu", "4090,h100-sxm", "--concurrency", "32", "--format", "csv"};
  CHECK(asked(crowded).code == ExitCode::fits);
  auto strict = crowded;
  strict.emplace_back("--strict");
  CHECK(asked(strict).code == ExitCode::does_not_fit);
  CHECK_THROWS_WITH(asked({"serve", "llama-3-8b", "--gpu", "4090,h100", "--find", "gpus"}), Contains("--find"));
  const auto planned = asked({"plan", "llama-3.2-1b", "--seq", "2k", "--rows", file, "--format", "markdown"});
  CHECK(planned.code == ExitCode::fits);
  CHECK_THAT(planned.answer, Contains("| layout |") && Contains("micro-batch"));
  CHECK_THROWS_WITH(asked({"plan", "llama-3.2-1b", "--rows", file, "--largest", "seq"}), Contains("--largest"));
  CHECK_THROWS_WITH(asked({"plan", "llama-3.2-1b", "--gpu", "4090", "--format", "junit"}), Contains("--rows"));
}

TEST_CASE("the advice of a line is the first of the whole answer") {
  const std::vector<Words> runs{
      {"llama-3-8b", "--gpu", "4090"},
      {"llama-3.1-8b", "--method", "qlora", "--gpu", "4090", "--seq", "8k"},
      {"llama-3-70b", "--method", "lora", "--gpu", "h100-sxm"},
      {"llama-3-70b", "--gpu", "4090"},
      {"gpt2", "--gpu", "a100-40", "--micro-batch", "256"},
      {"mixtral-8x7b", "--framework", "megatron", "--gpu", "h100-sxm:8", "--seq", "8k"},
  };
  int advised = 0;
  for (const Words& run : runs) {
    Words words{"fit"};
    words.insert(words.end(), run.begin(), run.end());
    const auto with = [&](const char* form) {
      auto all = words;
      all.insert(all.end(), {"--format", form});
      return asked(all).answer;
    };
    const auto whole = nlohmann::json::parse(with("json"));
    if (whole["verdict"] != "does_not_fit") continue;
    const auto first = whole["advice"].empty() ? std::string() : whole["advice"][0]["flag"].get<std::string>();
    CAPTURE(words, first);
    CHECK_THAT(with("csv"), Contains("," + first + "\n"));
    advised += first.empty() ? 0 : 1;
  }
  CHECK(advised >= 3);
}
