// What is trained beside frozen models, against peft's own count under every word of its LoraConfig
// (scripts/count-adapters, which wrote the file).
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/config.hpp"
#include "read/vocabulary.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>
#include <string_view>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// Names or numbers between commas.
std::string listed(const json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::string text;
  for (const auto& one : value) text += (text.empty() ? "" : ",") + listed(one);
  return text;
}

/// The word of the question for a key of a LoraConfig.
std::string word_of(const std::string& key, const json& value) {
  if (key == "trainable_token_indices") return std::to_string(value.size());
  if (key == "lora_bias") return value.get<bool>() ? "1" : "0";
  if (key != "rank_pattern") return listed(value);
  std::string text;
  for (const auto& [module, rank] : value.items()) text += (text.empty() ? "" : ",") + module + ":" + rank.dump();
  return text;
}

std::int64_t trained(const spec::Shape& shape, std::int64_t rank, const json& said) {
  const std::map<std::string, std::string> terms{{"target_modules", "lora_targets"},
                                                 {"trainable_token_indices", "trainable_tokens"}};
  auto question = test::ask(shape, 16, 1);
  question.training.framework = spec::Framework::hf;
  question.training.method = spec::Method::lora;
  question.training.adapter.rank = rank;
  for (const auto& [key, value] : said.items()) {
    const auto renamed = terms.find(key);
    const std::string term = renamed == terms.end() ? key : renamed->second;
    read::find_term(term)->apply(question, word_of(key, value), key);
  }
  const auto& layers = question.training.adapter.layers;
  if (!layers.empty()) spec::keep_adapters_to(layers, question.model);
  return program::count_parameters(test::program_of(question)).trainable;
}

}  // namespace

TEST_CASE("adapters train what peft counts, under every word of a LoraConfig") {
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/adapters.jsonl");
  int exact = 0;
  for (std::string line; std::getline(file, line);) {
    const json type = json::parse(line);
    INFO(type.at("type"));
    const auto shape = read::read_config(type.at("config").dump(), "config.json").shape;
    for (const json& one : type.at("cases")) {
      INFO(one.at("said"));
      std::int64_t count = 0;
      CHECK_NOTHROW(count = trained(shape, type.at("rank").get<std::int64_t>(), one.at("said")));
      CHECK(count == one.at("trainable").get<std::int64_t>());
      ++exact;
    }
  }
  CHECK(exact >= 910);
}
