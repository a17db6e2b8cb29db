// Parameters of every model type against transformers' own models: class defaults and random legal variations, counted
// on PyTorch's meta device by scripts/compare-families, which wrote the file.
#include "catch.hpp"
#include "llmcalc/frameworks/profile.hpp"
#include "llmcalc/program/count.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/config.hpp"
#include "questions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// The configuration of a variation: pointer -> value, null for a key that is gone.
json varied(json config, const json& change) {
  for (const auto& [text, value] : change.items()) {
    const json::json_pointer pointer(text);
    if (!value.is_null()) {
      config[pointer] = value;
    } else if (config.contains(pointer.parent_pointer())) {
      config[pointer.parent_pointer()].erase(pointer.back());
    }
  }
  return config;
}

std::optional<std::int64_t> counted(const json& config) {
  try {
    auto question = test::ask(read::read_config(config.dump(), "config.json").shape, 16, 1);
    question.training.framework = spec::Framework::hf;
    return program::count_parameters(test::program_of(question)).total;
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

/// A router's correction bias is a buffer in transformers and an element of the published files.
bool is_exact(std::int64_t count, const json& counts) {
  const auto parameters = counts.at("parameters").get<std::int64_t>();
  return count == parameters || count == parameters + counts.at("corrections").get<std::int64_t>();
}

struct Tally {
  int exact = 0;
  int refused = 0;
  int wrong = 0;
};

Tally tally_of(const json& type) {
  Tally tally;
  const auto check = [&](const json& config, const json& counts) {
    const auto count = counted(config);
    ++(!count ? tally.refused : is_exact(*count, counts) ? tally.exact : tally.wrong);
  };
  check(type.at("config"), type.at("counts"));
  for (const json& one : type.at("variations")) check(varied(type.at("config"), one.at("change")), one.at("counts"));
  return tally;
}

std::map<std::string, Tally> tallies() {
  std::map<std::string, Tally> all;
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/counts.jsonl");
  for (std::string line; std::getline(file, line);) {
    const json type = json::parse(line);
    if (!type.contains("problem")) all[type.at("type").get<std::string>()] = tally_of(type);
  }
  return all;
}

}  // namespace

TEST_CASE("a model type that is accepted counts as transformers does, in all its variations") {
  int exact = 0;
  int accepted = 0;
  for (const auto& [name, tally] : tallies()) {
    INFO(name << ": exact " << tally.exact << ", refused " << tally.refused << ", wrong " << tally.wrong);
    CHECK(tally.wrong == 0);
    if (tally.exact > 0) ++accepted;
    if (tally.exact > 0 && tally.refused == 0) ++exact;
  }
  CHECK(accepted >= 230);
  CHECK(exact >= 217);
}
