// A question fails on what was typed, never on what was left out.
#include "catch.hpp"
#include "cli/run.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <string>
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

/// Of `stride` presets one is planned, each under the next trainer and method.
int check_plans(std::size_t stride) {
  const std::vector<Option> optional{{"--gpus", "4"}, {"--seq", "256"}, {"--global-batch", "32"}};
  const Words methods{"full", "lora", "qlora"};
  const auto rows = frameworks::rows();
  const auto all = models();
  int asked = 0;
  for (std::size_t n = 0; n < all.size(); n += stride) {
    const std::size_t turn = n / stride;
    const std::string framework(rows[turn % rows.size()]->words.front());
    const std::string& method = methods[turn % methods.size()];
    CAPTURE(all[n].value, method, framework);
    asked +=
        check_left_out({"plan", "--top", "1"},
                       {all[n], {"--gpu", "h100-sxm"}, {"--framework", framework}, {"--method", method}}, optional);
  }
  return asked;
}

}  // namespace

TEST_CASE("no plan fails on a word that was left out", "[long]") { CHECK(check_plans(20) > 80); }

TEST_CASE("no plan of any preset fails on a word that was left out", "[.whole]") { CHECK(check_plans(1) > 1500); }

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
