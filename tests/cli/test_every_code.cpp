// The exit code is of the answer and not of its form: whichever way it is shown, or nothing of it.
#include "catch.hpp"
#include "cli/answered.hpp"

#include <string>
#include <vector>

namespace llmcalc::every_code {
namespace {

struct Asked {
  std::string question;
  ExitCode code;
};

constexpr auto fits = ExitCode::fits, fails = ExitCode::does_not_fit;

const std::vector<Asked> all{
    {"fit llama-3.2-1b --gpu a100-80", fits},
    {"fit llama-3.1-70b --gpu a100-80", fails},
    {"fit llama-3.2-1b --gpu a100-80 --max-memory 1GiB", fails},
    {"fit llama-3.2-1b --gpu a100-80 --max-days 1e-6 --tokens 1B", fails},
    {"fit llama-3.2-1b --gpu a100-80,h100-sxm", fits},
    {"fit llama-3.2-1b --gpu a100-80,t4 --seq 8k", fails},
    {"fit llama-3.2-1b --gpu a100-40 --sweep seq", fails},
    {"serve llama-3.1-8b --gpu h100-sxm --context 8k", fits},
    {"serve llama-3.1-70b --gpu h100-sxm", fails},
    {"serve llama-3.1-8b --gpu h100-sxm --rate 1000", fails},
    {"serve llama-3.1-8b --gpu h100-sxm --tpot 1us", fails},
    {"serve llama-3.1-8b --gpu h100-sxm --context 8k --concurrency 5000", fits},
    {"serve llama-3.1-8b --gpu h100-sxm --context 8k --concurrency 5000 --strict", fails},
    {"serve llama-3.1-8b --gpu h100-sxm,t4", fails},
    {"serve llama-3.1-8b --gpu h100-sxm --find concurrency --tpot 20ms", fits},
    {"plan gpt2 --gpu a100-40:2", fits},
    {"plan llama-3.1-405b --gpu t4:2", fails},
    {"plan llama-3.1-8b --serve --gpu l40s", fits},
    {"plan llama-3.1-405b --serve --gpu t4:2", fails},
    {"scale --params 7B --gpu h100-sxm:8", fits},
    {"dtype bf16", fits},
    {"gpu show h100-sxm", fits},
    {"model list llama", fits},
};

}  // namespace

TEST_CASE("an answer ends with the same code in every form and in none") {
  std::size_t asked = 0;
  for (const auto& [question, code] : all) {
    CAPTURE(question);
    const auto quiet = test::outcome_of(question + " --quiet");
    REQUIRE(quiet);
    CHECK(quiet->code == code);
    CHECK(quiet->answer.empty());
    for (const char* form : {"text", "csv", "junit"}) {
      CAPTURE(form);
      const auto outcome = test::outcome_of(question + " --format " + form);
      if (!outcome) continue;  // what has no such form
      CHECK(outcome->code == code);
      CHECK_FALSE(outcome->answer.empty());
      ++asked;
    }
  }
  CHECK(asked > 40);
}

}  // namespace llmcalc::every_code
