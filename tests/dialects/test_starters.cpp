// Programs that are a trainer or a server: by every path that people start them by, and by no name that only ends
// alike.
#include "catch.hpp"
#include "dialects/shell/command.hpp"
#include "quantity/text.hpp"

#include <string>
#include <vector>

namespace llmcalc::dialects {
namespace {

constexpr Starter known_starters[] = {
#include "dialects/starters.inc"
};

/// The name of the starter whose program stands behind such a path, with how many of its words.
std::string found_behind(const std::string& path, const Starter& starter) {
  std::vector<ShellWord> words;
  for (const auto part : quantity::pieces_of(starter.name, " ")) words.push_back({std::string(part)});
  const auto count = words.size();
  words.front().text.insert(0, path);
  words.push_back({"--of-nobody"});
  const Started started = starter_of(words);
  if (started.starter == nullptr) return "nobody";
  CHECK((started.starter != &starter || started.words == count));
  return std::string(started.starter->name);
}

}  // namespace

TEST_CASE("every program is known by whatever path it is started, and by no longer name") {
  for (const Starter& starter : known_starters) {
    for (const auto* path : {"", "./", "/opt/conda/bin/", "examples/", "a b/"}) {
      CAPTURE(path);
      CHECK(found_behind(path, starter) == starter.name);
    }
    for (const auto* longer : {"x", "my_", "/opt/my-", "not"}) {
      CAPTURE(longer);
      CHECK(found_behind(longer, starter) != starter.name);
    }
  }
}

}  // namespace llmcalc::dialects
