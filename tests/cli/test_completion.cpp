// What shells and man are told follows from the tables: nothing is offered that is refused, and nothing is left out.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <sstream>

using namespace llmcalc;
using Catch::Matchers::Contains;

TEST_CASE("every option of every verb is in every shell's completions and on the verb's page") {
  const std::string bash = cli::completion("bash");
  const std::string zsh = cli::completion("zsh");
  const std::string fish = cli::completion("fish");
  for (const auto& verb : api::verbs()) {
    const auto page = cli::manual("llmcalc-" + std::string(verb.name));
    for (const auto& flag : all_flags(verb)) {
      INFO(verb.name << " --" << flag.name);
      CHECK_THAT(bash, Contains("--" + flag.name));
      CHECK_THAT(zsh, Contains("'--" + flag.name + ":"));
      CHECK_THAT(fish, Contains(" -l " + flag.name + " "));
      std::string dashed;
      for (const char c : flag.name) dashed += c == '-' ? "\\-" : std::string(1, c);
      CHECK_THAT(page, Contains("\\fB\\-\\-" + dashed + "\\fR"));
    }
  }
}

TEST_CASE("the program's page lists each verb with what it does, and every page names the others") {
  const std::string own = cli::manual("llmcalc");
  const auto dashes = [](std::string_view text) {
    std::string plain;
    for (const char c : text) {
      if (c != '\\') plain += c;
    }
    return plain;
  };
  for (const auto& verb : api::verbs()) {
    const std::string name(verb.name);
    INFO(name);
    CHECK_THAT(dashes(own), Contains("\n.B " + name + "\n" + std::string(verb.summary) + "\n"));
    CHECK_THAT(dashes(own), Contains(".BR llmcalc-" + name + " (1)"));
    const std::string page = dashes(cli::manual("llmcalc-" + name));
    CHECK_THAT(page, Contains(".BR llmcalc (1)") && Contains(std::string(verb.summary)));
    for (const auto& other : api::verbs()) {
      const bool is_own = other.name == verb.name;
      CHECK((page.find(".BR llmcalc-" + std::string(other.name) + " (1)") == page.npos) == is_own);
    }
  }
}

TEST_CASE("there is a page for the program and one for each verb") {
  std::istringstream pages(cli::manual("list"));
  std::size_t count = 0;
  for (std::string page; std::getline(pages, page); ++count) {
    CHECK_THAT(cli::manual(page), Contains(".TH llmcalc"));
  }
  CHECK(count == api::verbs().size() + 1);
  CHECK_THROWS_AS(cli::manual("llmcalc-fits"), quantity::BadInput);
  CHECK_THROWS_AS(cli::completion("tcsh"), quantity::BadInput);
  const std::vector<std::string> line{"man"};
  CHECK(cli::run(line, {}).answer == cli::manual("llmcalc"));
}
