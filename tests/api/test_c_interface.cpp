// Strings in, JSON out: whatever comes in, something that can be read goes out.
#include "catch.hpp"
#include "llmcalc/llmcalc.h"
#include "llmcalc/llmcalc.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <thread>
#include <vector>

using nlohmann::json;

namespace {

struct Outcome {
  int code = -1;
  json answer;
};

Outcome fit(const char* question) {
  char* text = nullptr;
  Outcome outcome;
  outcome.code = llmcalc_fit(question, &text);
  REQUIRE(text != nullptr);
  outcome.answer = json::parse(text);
  llmcalc_free(text);
  return outcome;
}

}  // namespace

TEST_CASE("an object of options is answered as the command line answers") {
  const auto outcome = fit(R"({"model": "llama-3-8b", "gpu": "h100-sxm:8", "zero": 3, "sp": false})");
  CHECK(outcome.code == LLMCALC_DOES_NOT_FIT * (outcome.answer["verdict"] == "does_not_fit"));
  CHECK(outcome.answer["kind"] == "fit");
  CHECK(outcome.answer["tool"]["version"] == llmcalc_version());
  CHECK(outcome.answer == json::parse(llmcalc::to_json(llmcalc::ask(
                              {{"gpu", "h100-sxm:8"}, {"model", "llama-3-8b"}, {"sp", "0"}, {"zero", "3"}}))));
}

TEST_CASE("the code is the exit code of the command line") {
  CHECK(fit(R"({"params": "1e9", "dtype": "bf16", "gpu": "a100-80"})").code == LLMCALC_FITS);
  CHECK(fit(R"({"params": "70B", "dtype": "bf16", "gpu": "rtx-4090"})").code == LLMCALC_DOES_NOT_FIT);
  CHECK(fit(R"({"params": "1e9"})").code == LLMCALC_FITS);
}

TEST_CASE("what is no question is answered with its mistake") {
  const std::vector<const char*> bad{nullptr,
                                     "",
                                     "{",
                                     "[]",
                                     "{\"gpu\": []}",
                                     R"({"params": "7B", "gpus": -1})",
                                     R"({"seq": 4e99})",
                                     "{\"model\": \"\xff\"}"};
  for (const char* question : bad) {
    CAPTURE(question == nullptr ? "null" : question);
    const auto outcome = fit(question);
    CHECK(outcome.code == LLMCALC_NOT_ANSWERED);
    CHECK(outcome.answer["kind"] == "error");
    CHECK_FALSE(outcome.answer["problem"].get<std::string>().empty());
  }
}

TEST_CASE("nobody has to take the answer") {
  CHECK(llmcalc_fit(R"({"params": "7B"})", nullptr) == LLMCALC_FITS);
  llmcalc_free(nullptr);
}

TEST_CASE("several threads may ask at once") {
  const char* question = R"({"model": "mixtral-8x7b", "gpu": "h100-sxm:8", "zero": 3})";
  const auto expected = fit(question).answer;
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&answer, question] {
      char* text = nullptr;
      llmcalc_fit(question, &text);
      answer = text;
      llmcalc_free(text);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& answer : answers) CHECK(json::parse(answer) == expected);
}
