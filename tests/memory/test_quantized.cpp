// Bases that are published quantized and trained as they are, against what trl, transformers and peft hold on the CPU
// (scripts/load-quantized, which wrote the file).
#include "asked.hpp"
#include "catch.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

using namespace llmcalc;
using nlohmann::json;
using quantity::in_bytes;

namespace {

test::Asked asked(const json& row) {
  const auto words = test::words(row.at("words").get<std::string>() + " --lora-rank 8 --lora-targets all-linear");
  return test::Asked(
      read::resolve(words, read::ConfigText{"config.json", row.at("config").dump()}, read::Catalogue()).question);
}

/// The scales of LLM.int8() are four bytes an output, for which number formats here have no word: q, k, v, out, gate,
/// up and down projection of two layers, seven in a thousand of so small a model and one of such as people train.
std::int64_t scales(const json& row) {
  constexpr std::int64_t outputs = 2 * (256 + 128 + 128 + 256 + 512 + 512 + 256);
  return row.at("scheme") == "bnb-int8" ? 4 * outputs : 0;
}

}  // namespace

TEST_CASE("published quantized bases and adapters beside them rest as trl, transformers and peft hold them") {
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/quantized.jsonl");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const json row = json::parse(line);
    INFO(row.at("scheme") << ' ' << row.at("words"));
    const auto states = asked(row).states();
    CHECK(in_bytes(states.weights) + scales(row) == row.at("base").get<std::int64_t>());
    CHECK(in_bytes(states.adapters) == row.at("adapters").get<std::int64_t>());
  }
  CHECK(rows == 18);
}
