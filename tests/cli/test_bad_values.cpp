// Whatever is wrong in the value of an option, the error names the option, repeats the value and says what was
// expected, for every option of every verb, on the command line and in the cell of a list.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::bad_values {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

namespace {

/// A question that each verb answers.
const std::map<std::string, Words>& questions() {
  static const std::map<std::string, Words> all{{"fit", {"--params", "1e9", "--dtype", "bf16"}},
                                                {"serve", {"llama-3.2-1b"}},
                                                {"plan", {"llama-3.2-1b", "--gpu", "h100-sxm", "--seq", "1k"}},
                                                {"scale", {"--params", "1e9"}},
                                                {"dtype", {}}};
  return all;
}

/// Options that are any text, or that name what a person has: nothing is known to be expected.
const Words& of_any_text() {
  static const Words names{"from", "write", "presets",  "calibration", "config",
                           "rows", "model", "requests", "baseline",    "engine-version"};
  return names;
}

std::optional<quantity::BadInput> refused(const std::string& verb, const std::string& option,
                                          const std::string& value) {
  Words words{verb};
  for (const auto& word : questions().at(verb)) {
    if (word != "--" + option) {
      words.push_back(word);
      continue;
    }
    words.emplace_back();  // which takes the place of a value that is said anew
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].empty()) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    break;
  }
  words.push_back("--" + option + "=" + value);
  try {
    cli::run(words, cli::Environment{});
    return std::nullopt;
  } catch (const quantity::BadInput& error) {
    return error;
  }
}

/// Values that hardly any option has.
constexpr const char* bad[] = {"qwzx", "-7", ".1e999", "nan", "12qwzx"};

}  // namespace

TEST_CASE("a bad value is refused at its option, with the value and what was expected") {
  int refusals = 0;
  for (const auto& [verb, question] : questions()) {
    for (const auto& flag : api::all_flags(api::find_verb(verb))) {
      if (flag.is_switch() || quantity::contains(of_any_text(), flag.name)) continue;
      bool takes_all = true;
      for (const std::string value : bad) {
        CAPTURE(verb, flag.name, value);
        const auto error = refused(verb, flag.name, value);
        if (!error) continue;
        takes_all = false;
        ++refusals;
        CHECK_THAT(error->place() + " ", Contains("--" + flag.name + " ") || Contains("--" + flag.name + ":"));
        // An option that does not apply is refused whatever its value.
        const auto other = refused(verb, flag.name, "zxwq");
        if (other && std::string(other->what()) == error->what()) continue;
        CHECK_THAT(std::string(error->what()), Contains(value));
        const auto& problem = error->problem();
        const auto says = [&](const char* words) { return problem.find(words) != problem.npos; };
        CHECK((!error->hint().empty() || says("expected") || says("is not one of") || says("write it like") ||
               says(", not '") || says("contradicts")));
      }
      CAPTURE(verb, flag.name);
      CHECK_FALSE(takes_all);
    }
  }
  CHECK(refusals > 500);
}

/// What is refused is told by the words as they were typed, which must not be refused once more.
TEST_CASE("a switch is said, or said to be yes or no, and nothing else") {
  int switches = 0;
  for (const auto& [verb, question] : questions()) {
    for (const auto& flag : api::all_flags(api::find_verb(verb))) {
      if (!flag.is_switch() || flag.name == "help") continue;
      CAPTURE(verb, flag.name);
      ++switches;
      for (const std::string value : bad) {
        const auto error = refused(verb, flag.name, value);
        CHECK(error);
        if (error) CHECK_THAT(std::string(error->what()), Contains("--" + flag.name));
        CHECK_NOTHROW(api::spelled_out(Words{verb, "--" + flag.name + "=" + value}));
      }
    }
  }
  CHECK(switches > 20);
}

TEST_CASE("a switch in front of a word too many is not said to have a value") {
  for (const auto& flag : api::all_flags(api::find_verb("fit"))) {
    if (!flag.is_switch() || flag.name == "help") continue;
    CAPTURE(flag.name);
    try {
      cli::run(Words{"fit", "llama-3.2-1b", "--" + flag.name, "GB"}, cli::Environment{});
      FAIL("was answered");
    } catch (const quantity::BadInput& error) {
      CHECK(std::string(error.what()).find("true") == std::string::npos);
    }
  }
}

TEST_CASE("a word too many is the place of its error, not what is wrong with it") {
  for (const auto& verb : api::verbs()) {
    if (verb.name == "validate" || verb.name == "from") continue;  // of files
    const Words words{std::string(verb.name), "one", "two", "three", "four"};
    CAPTURE(verb.name);
    try {
      cli::run(words, cli::Environment{});
      FAIL("was answered");
    } catch (const quantity::BadInput& error) {
      CHECK_THAT(error.place(), Catch::Matchers::StartsWith("'"));
      CHECK_THAT(error.problem(), Contains("too many") || Contains("there is no"));
    }
  }
}

namespace {

/// Values of an option: its words, or numbers that most have.
Words values_of(const api::Flag& flag) {
  if (flag.values.find('|') == std::string::npos) return {"1", "2", "3", "8"};
  Words values;
  for (const auto piece : quantity::pieces_of(flag.values, "|")) values.emplace_back(piece);
  return values;
}

/// Where two options contradict each other: the error says both, and why.
void check_contradiction(const quantity::BadInput& error) {
  const auto at = error.problem().find(" contradicts ");
  if (at == std::string::npos) return;
  const auto why = error.problem().find(": ", at);
  CHECK(at > 0);
  REQUIRE(why != std::string::npos);
  CHECK(why + 2 < error.problem().size());
  CHECK((error.place().starts_with("--") || error.place().find('\'') != std::string::npos));
}

}  // namespace

TEST_CASE("of two options that contradict each other the error says both, and why", "[long]") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same pairs on every machine
  const auto any = [&](const auto& list) { return list[random() % list.size()]; };
  int contradictions = 0;
  for (const auto& [verb, turns] : {std::pair{std::string("fit"), 3000}, {std::string("serve"), 1000}}) {
    std::vector<api::Flag> flags = api::own_flags(api::find_verb(verb));
    std::erase_if(flags, [](const api::Flag& flag) {
      return flag.is_switch() || flag.group == "Output" || flag.group == "Model" ||
             quantity::contains(of_any_text(), flag.name);
    });
    for (int turn = 0; turn < turns; ++turn) {
      Words words{verb, "llama-3.2-1b", "--gpu", "h100-sxm"};
      std::string said = "'llama-3.2-1b' --gpu";
      for (int i = 0; i < 2; ++i) {
        const api::Flag& flag = any(flags);
        if (said.find("--" + flag.name) != std::string::npos) continue;
        said += " --" + flag.name;
        words.push_back("--" + flag.name + "=" + any(values_of(flag)));
      }
      CAPTURE(words);
      try {
        cli::run(words, cli::Environment{});
      } catch (const quantity::BadInput& error) {
        CAPTURE(error.place(), error.problem());
        check_contradiction(error);
        contradictions += error.problem().find(" contradicts ") != std::string::npos ? 1 : 0;
      }
    }
  }
  CHECK(contradictions > 100);
}

}  // namespace llmcalc::bad_values
