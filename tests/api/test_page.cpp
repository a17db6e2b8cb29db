// The page's door (page/door.cpp), asked on this machine: a question's answer is the library's, and files are those
// that were dropped.
#include "catch.hpp"
#include "llmcalc/llmcalc.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

extern "C" {
int page_ask(const char* line, char** answer);
const char* page_options(const char* verb);
void page_drop(const char* name, const char* head, std::size_t length, double size);
}

namespace {

using nlohmann::json;

struct Answered {
  int code = 0;
  std::string text;
};

Answered asked(const json& words) {
  char* answer = nullptr;
  const int code = page_ask(words.dump().c_str(), &answer);
  const std::unique_ptr<char, decltype(&llmcalc_free)> kept(answer, &llmcalc_free);
  return {code, kept.get()};
}

TEST_CASE("the page answers as the library does") {
  char* answer = nullptr;
  const int code = llmcalc_ask("fit", R"({"model": "llama-3-8b", "gpu": "rtx-4090"})", &answer);
  const std::unique_ptr<char, decltype(&llmcalc_free)> kept(answer, &llmcalc_free);
  const auto here = asked({"fit", "llama-3-8b", "--gpu", "rtx-4090", "--format", "json"});
  CHECK(here.code == code);
  CHECK(json::parse(here.text)["memory"] == json::parse(kept.get())["memory"]);
}

TEST_CASE("the page reads a file that was dropped, and no other") {
  const json words = {"fit", "config.json", "--gpu", "a100-80", "--format", "json"};
  CHECK(asked(words).code == 2);
  // The published shape of GPT-2 small (124,439,808 parameters, openai-community/gpt2).
  const std::string config = R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
                                 "vocab_size": 50257})";
  page_drop("config.json", config.data(), config.size(), static_cast<double>(config.size()));
  const auto answer = asked(words);
  REQUIRE(answer.code != 2);
  CHECK(answer.text.find("124439808") != std::string::npos);
}

TEST_CASE("the page lists what its pickers offer") {
  const auto options = json::parse(page_options("fit"));
  CHECK(std::any_of(options.begin(), options.end(), [](const json& option) {
    return option["name"] == "method" && option["values"].get<std::string>().find("|qlora") != std::string::npos;
  }));
}

}  // namespace
