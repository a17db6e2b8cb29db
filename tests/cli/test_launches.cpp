// Whole commands that start servers, kind by kind: tests/cli/launches.txt holds them.
#include "catch.hpp"
#include "cli/run.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace llmcalc;

namespace {

using Lines = std::vector<std::string>;

struct Asked {
  std::string question;
  std::string command;
  Lines notes;
};

std::vector<Asked> asked_in(const std::string& path) {
  constexpr std::string_view note = "  # ";
  std::vector<Asked> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(note)) {
      all.back().notes.push_back(line.substr(note.size()));
    } else if (line.starts_with("  ")) {
      all.back().command = line.substr(2);
    } else if (!line.empty() && !line.starts_with('#')) {
      REQUIRE(line.find(" ## ") != std::string::npos);  // a source
      all.push_back({line.substr(0, line.find(" ## ")), {}, {}});
    }
  }
  return all;
}

/// A command over several lines on one.
std::string on_one_line(std::string command) {
  constexpr std::string_view broken = " \\\n  ";
  for (auto at = command.find(broken); at != std::string::npos; at = command.find(broken, at))
    command.replace(at, broken.size(), " ");
  return command;
}

}  // namespace

TEST_CASE("every kind of server is started by a command that its engine takes") {
  const auto all = asked_in(LLMCALC_TEST_DATA "/cli/launches.txt");
  CHECK(all.size() >= 18);
  for (const auto& [question, command, notes] : all) {
    CAPTURE(question);
    auto words = quantity::pieces_of(question, " ");
    Lines arguments(words.begin(), words.end());
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto answer = nlohmann::json::parse(cli::run(arguments, cli::Environment{}).answer);
    CHECK(answer["verdict"] == "fits");
    CHECK(on_one_line(answer["launch"]) == command);
    CHECK(answer["launch_notes"].get<Lines>() == notes);
  }
}
