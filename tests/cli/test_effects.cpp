// What an option does to an answer: tests/cli/effects.txt has every option of fit and serve, values of it, and the
// figures that they move, each in the direction that what it is about promises.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/answered.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::effects {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

struct Effect {
  std::string part;  ///< of the file
  std::string question;
  std::string option;
  Words values;
  Words figures;  ///< each ends with how it is moved
};

std::vector<Effect> read_effects() {
  std::ifstream file(LLMCALC_TEST_DATA "/cli/effects.txt");
  REQUIRE(file);
  std::vector<Effect> all;
  std::string part, question;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# --- ")) part = line.substr(6);
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("= ")) {
      question = line.substr(2);
      continue;
    }
    const auto figures = line.find(" : ");
    REQUIRE(figures != std::string::npos);
    auto values = test::words_in(line.substr(0, figures));
    auto option = values.front();
    values.erase(values.begin());
    all.push_back({part, question, std::move(option), std::move(values), test::words_in(line.substr(figures + 3))});
  }
  return all;
}

bool is_moved(char how, const json& before, const json& after) {
  if (how == '~') return after != before;
  if (how == '=') return after == before && !after.is_null();
  if (!before.is_number() || !after.is_number()) return false;
  return how == '+' ? after > before : after < before;
}

json at(const json& answer, std::string figure) {
  figure.pop_back();
  const json::json_pointer place("/" + figure);
  return answer.contains(place) ? answer.at(place) : json();
}

void check(const Effect& effect) {
  json before;
  for (const auto& value : effect.values) {
    const json after = test::answered(effect.question + " --" + effect.option + " " + value);
    CAPTURE(effect.question, effect.option, value);
    REQUIRE(after.is_object());
    for (const auto& figure : before.is_null() ? Words() : effect.figures) {
      CAPTURE(figure, at(before, figure).dump(), at(after, figure).dump());
      CHECK(is_moved(figure.back(), at(before, figure), at(after, figure)));
    }
    before = after;
  }
}

/// \return how many options the part has an effect of
std::size_t check_part(const std::string& part) {
  auto effects = read_effects();
  std::erase_if(effects, [&](const Effect& effect) { return effect.part != part; });
  std::ranges::for_each(effects, check);
  return effects.size();
}

/// What names the question itself, shows more or less of its answer, or is a limit of it (test_limits_law.cpp).
constexpr std::string_view beside[] = {
    "from",      "offline",  "config",   "as",    "model", "show-question",     "full",
    "explain",   "timeline", "unit",     "rows",  "sweep", "calibration",       "strict",
    "baseline",  "worse-by", "format",   "quiet", "color", "presets",           "help",
    "framework", "engine",   "gpu",      "find",  "table", "requests",          "max-memory",
    "margin",    "max-days", "max-cost", "ttft",  "tpot",  "max-cost-per-hour", "max-cost-per-million",
    "ttft-p95",  "tpot-p95"};

/// Of a model's description, what a server has no use for: how it is trained, and what its towers see, which is not
/// counted.
constexpr std::string_view unserved[] = {"dropout", "freeze", "images", "patches", "image-size", "parallel-residual"};

}  // namespace

TEST_CASE("what a run trains moves its figures as it promises") { CHECK(check_part("Runs: what is trained") > 60); }

TEST_CASE("how a run trains moves its figures as it promises") { CHECK(check_part("Runs: how") > 30); }

TEST_CASE("what adapters and preferences ask moves a run's figures as it promises") {
  CHECK(check_part("Runs: adapters and preferences") >= 20);
}

TEST_CASE("what a server is told moves its figures as it promises") { CHECK(check_part("Servers") > 60); }

TEST_CASE("every option of a run and of a server is known to move something") {
  const auto effects = read_effects();
  for (const std::string verb : {"fit", "serve"}) {
    for (const auto& flag : api::all_flags(api::find_verb(verb))) {
      const bool is_unserved = verb == "serve" && quantity::contains(unserved, flag.name);
      if (is_unserved || quantity::contains(beside, flag.name)) continue;
      CAPTURE(verb, flag.name);
      CHECK(std::ranges::any_of(effects, [&](const Effect& effect) {
        return effect.question.starts_with(verb) && effect.option == flag.name;
      }));
    }
  }
}

}  // namespace llmcalc::effects
