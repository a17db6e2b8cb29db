// A question fails on what was typed, never on what was left out.
#include "answer/figures.hpp"
#include "catch.hpp"
#include "cli/run.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<std::string>;

struct Option {
  std::string flag;
  std::string value;
};

Words command_of(const Words& verb, const std::vector<Option>& options) {
  Words words = verb;
  for (const auto& [flag, value] : options) words.insert(words.end(), {flag, value});
  return words;
}

/// What is wrong with an answer: nothing, or the error that names none of the options that were typed.
std::string blamed_without_reason(const Words& verb, const std::vector<Option>& options) {
  try {
    cli::run(command_of(verb, options), cli::Environment{});  // whether it fits or not
    return {};
  } catch (const quantity::BadInput& error) {
    const auto names = [&](const Option& option) {
      return error.place().find(option.flag) != error.place().npos ||
             error.problem().find(option.flag + " ") != error.problem().npos;
    };
    return std::ranges::any_of(options, names) ? std::string() : error.what();
  }
}

/// Asks with all words, with the needed ones alone, and with each of the others left out.
/// \return questions that were asked
int check_left_out(const Words& verb, const std::vector<Option>& needed, const std::vector<Option>& optional) {
  auto all = needed;
  all.insert(all.end(), optional.begin(), optional.end());
  CHECK(blamed_without_reason(verb, all) == "");
  CHECK(blamed_without_reason(verb, needed) == "");
  for (std::size_t left_out = 0; left_out < optional.size(); ++left_out) {
    auto others = needed;
    for (std::size_t i = 0; i < optional.size(); ++i) {
      if (i != left_out) others.push_back(optional[i]);
    }
    CHECK(blamed_without_reason(verb, others) == "");
  }
  return static_cast<int>(optional.size()) + 2;
}

std::vector<Option> models() {
  std::vector<Option> models{{"--params", "7e9"}};
  for (const auto& preset : read::Catalogue().models()) models.push_back({"--model", preset.id});
  return models;
}

}  // namespace

TEST_CASE("no run fails on a word that was left out", "[long]") {
  const std::vector<Option> optional{
      {"--gpu", "h100-sxm:8"}, {"--seq", "2k"}, {"--micro-batch", "1"}, {"--global-batch", "32"}, {"--zero", "3"}};
  const Words methods{"full", "lora", "qlora"};
  int asked = 0;
  std::size_t turn = 0;  // every preset meets a trainer and a method, every trainer a dozen presets
  const auto rows = frameworks::rows();
  for (const Option& model : models()) {
    const std::string framework(rows[turn % rows.size()]->words.front());
    const std::string& method = methods[turn++ / rows.size() % methods.size()];
    CAPTURE(model.value, method, framework);
    asked += check_left_out({"fit"}, {model, {"--framework", framework}, {"--method", method}}, optional);
  }
  CHECK(asked > 1000);
}

TEST_CASE("no server fails on a word that was left out", "[long]") {
  const std::vector<Option> optional{
      {"--gpu", "h100-sxm:8"}, {"--context", "4k"}, {"--concurrency", "8"}, {"--output", "128"}, {"--tp", "2"}};
  int asked = 0;
  std::size_t turn = 0;
  const auto engines = serving::all_engines();
  for (const Option& model : models()) {
    for (int n = 0; n < 2; ++n) {
      const auto& row = engines[turn++ % engines.size()];
      CAPTURE(model.value, spec::name_of(row.engine));
      asked += check_left_out({"serve"}, {model, {"--engine", std::string(spec::name_of(row.engine))}}, optional);
    }
  }
  CHECK(asked > 2000);
}

namespace {

/// The smallest preset of each family of models, which what is assumed of a run can tell apart.
std::vector<Option> smallest_of_families() {
  std::map<std::string, std::pair<std::int64_t, std::string>> smallest;
  for (const auto& preset : read::Catalogue().models()) {
    const std::pair one{quantity::in_parameters(answer::model_size(preset.shape).total), preset.id};
    const auto [known, is_new] = smallest.emplace(preset.family, one);
    if (!is_new) known->second = std::min(known->second, one);
  }
  std::vector<Option> found{{"--params", "7e9"}};
  for (const auto& [family, one] : smallest) found.push_back({"--model", one.second});
  return found;
}

}  // namespace

/// A plan differs from a run by what a search chooses and says again, which goes by trainer, method and family: each
/// pair of the first two is met with some family, each family with some pair.
TEST_CASE("no plan fails on a word that was left out", "[long]") {
  const std::vector<Option> optional{{"--gpus", "4"}, {"--seq", "256"}, {"--global-batch", "32"}};
  const Words methods{"full", "lora", "qlora"};
  const auto rows = frameworks::rows();
  const auto families = smallest_of_families();
  REQUIRE(families.size() >= rows.size() * methods.size());
  for (std::size_t turn = 0; turn < families.size(); ++turn) {
    const std::string framework(rows[turn % rows.size()]->words.front());
    const std::string& method = methods[turn / rows.size() % methods.size()];
    CAPTURE(families[turn].value, method, framework);
    check_left_out({"plan", "--top", "1"},
                   {families[turn], {"--gpu", "h100-sxm"}, {"--framework", framework}, {"--method", method}}, optional);
  }
}

TEST_CASE("no law of scaling fails on a word that was left out", "[long]") {
  const std::vector<Option> optional{
      {"--gpu", "h100-sxm:8"}, {"--tokens", "2T"}, {"--dtype", "bf16"}, {"--mfu", "0.4"}};
  for (const std::string law : {"chinchilla", "kaplan", "llama-3"}) {
    for (const Option& known : {Option{"--params", "8B"}, {"--compute", "1e24"}, {"--tokens", "1T"}}) {
      auto others = optional;
      std::erase_if(others, [&](const Option& option) { return option.flag == known.flag; });
      CAPTURE(law, known.flag);
      check_left_out({"scale"}, {known, {"--law", law}}, others);
    }
  }
}
