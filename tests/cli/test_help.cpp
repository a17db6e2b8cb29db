// Help in two steps, and lists that a terminal shows whole.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "render/inner/page.hpp"

#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

cli::Outcome said(const Words& words) { return cli::run(words, cli::Environment{}); }

void check_columns(const std::string& text) {
  for (const auto& line : render::lines_of(text)) {
    INFO(line);
    CHECK(render::display_width(line) <= 80);
  }
}

/// Words as a shell tells them apart, of text without quotes.
Words words_of(std::string_view text) {
  Words words;
  for (const auto& line : render::lines_of(render::wrapped(text, 0, 0, 1))) words.push_back(line);
  return words;
}

}  // namespace

TEST_CASE("the short help of every verb is one screen, and names the long one") {
  for (const auto& verb : api::verbs()) {
    const auto text = said({std::string(verb.name), "-h"}).answer;
    INFO(text);
    CHECK(render::lines_of(text).size() <= 24);
    CHECK_THAT(text, Contains("llmcalc " + std::string(verb.name) + " --help"));
    check_columns(text);
  }
}

TEST_CASE("the long help of every verb has every option") {
  for (const auto& verb : api::verbs()) {
    const auto text = said({std::string(verb.name), "--help"}).answer;
    for (const auto& flag : api::own_flags(verb)) CHECK_THAT(text, Contains("--" + flag.name));
    check_columns(text);
  }
}

TEST_CASE("no words at all print the short help, and are no question") {
  const auto outcome = said({});
  CHECK(outcome.answer == said({"-h"}).answer);
  CHECK(outcome.code == ExitCode::bad_question);
  CHECK(render::lines_of(outcome.answer).size() <= 24);
}

TEST_CASE("the examples of a verb are answered") {
  for (const auto& verb : api::verbs()) {
    for (const auto example : quantity::pieces_of(verb.examples, "\n")) {
      auto words = words_of(example);
      if (words[1] == "validate" || words[1] == "from") continue;  // their files are anybody's
      words.erase(words.begin());
      INFO(example);
      CHECK(said(words).code != ExitCode::bad_question);
    }
  }
}

TEST_CASE("lists and plans are no wider than a terminal") {
  check_columns(said({"gpu", "list"}).answer);
  check_columns(said({"model", "list"}).answer);
  check_columns(
      said({"plan", "--model", "llama-3-8b", "--gpu", "h100-sxm:8", "--seq", "8k", "--global-batch", "64"}).answer);
}

TEST_CASE("every verb knows --color and --format") {
  for (const auto& verb : api::verbs()) {
    CHECK_THROWS_AS(said({std::string(verb.name), "--color", "blue"}), quantity::BadInput);
  }
  for (const Words& words :
       {Words{"gpu", "list"}, Words{"model", "list"}, Words{"dtype"}, Words{"scale", "--params", "7e9"}}) {
    auto coloured = words;
    coloured.insert(coloured.end(), {"--color", "never"});
    CHECK(said(coloured).answer == said(words).answer);
    coloured.insert(coloured.end(), {"--format", "json"});
    CHECK(said(coloured).answer.starts_with("{"));
  }
}
