// The manual's tables of frameworks and releases are those that the program goes by.
#include "catch.hpp"
#include "frameworks/release.hpp"
#include "frameworks/table.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

using namespace llmcalc;

namespace {

std::string page(const std::string& name) {
  std::ifstream file(std::string(LLMCALC_TEST_DATA) + "/../docs/" + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The line that begins with "| `word`"; empty if there is none.
std::string line_of(const std::string& text, std::string_view word) {
  const auto found = text.find("| `" + std::string(word) + "`");
  return found == std::string::npos ? std::string() : text.substr(found, text.find('\n', found) - found);
}

std::string option(const frameworks::Default& usual) {
  std::string name(usual.term);
  std::ranges::replace(name, '_', '-');
  return "`--" + name + " " + std::string(usual.value) + "`";
}

}  // namespace

TEST_CASE("the manual lists every framework with all that it does unasked") {
  const std::string whole = page("frameworks.md");
  const std::string text = whole.substr(whole.find("| unasked |"));
  for (const auto* row : frameworks::rows()) {
    const std::string line = line_of(text, row->words.front());
    CAPTURE(row->words.front());
    for (const auto word : row->words) CHECK(line.find("`" + std::string(word) + "`") != std::string::npos);
    for (const auto& usual : row->defaults) {
      CAPTURE(option(usual));
      CHECK(line.find(option(usual)) != std::string::npos);
    }
  }
}

TEST_CASE("the manual lists every way in which a framework writes checkpoints") {
  const std::string whole = page("frameworks.md");
  const std::string text = whole.substr(whole.find("| checkpoints of |"));
  for (const auto* row : frameworks::rows()) {
    CAPTURE(row->words.front());
    const auto found = text.find("`" + std::string(row->words.front()) + "`");
    REQUIRE(found != std::string::npos);
    const std::string line = text.substr(found, text.find('\n', found) - found);
    for (const auto& saving : row->savings) {
      CHECK(line.find("`" + std::string(spec::name_of(saving.way)) + "`") != std::string::npos);
    }
  }
}

TEST_CASE("the manual lists every change that follows from a release") {
  const std::string text = page("releases.md");
  for (const auto& change : frameworks::release_changes()) {
    CAPTURE(change.what);
    const auto found = text.find("| " + std::string(change.what) + " | " + std::string(change.source) + " |");
    REQUIRE(found != std::string::npos);
    const auto begin = text.rfind('\n', found) + 1;
    const std::string line = text.substr(begin, found - begin);
    CHECK(line.find(std::to_string(change.published.year)) != std::string::npos);
    if (change.since) CHECK(line.find(std::to_string(change.since->major) + ".") != std::string::npos);
  }
}

TEST_CASE("the manual lists every word of a launch that follows from a release") {
  const std::string text = page("releases.md");
  for (const auto& row : frameworks::release_words()) {
    CAPTURE(row.word);
    const std::string before = row.before.empty() ? "" : "`" + std::string(row.before) + "`";
    const auto found =
        text.find("| " + std::string(row.frameworks) + " | `" + std::string(row.word) + "` | " + before + " | ");
    REQUIRE(found != std::string::npos);
    const std::string line = text.substr(found, text.find('\n', found) - found);
    CHECK(line.find(std::to_string(row.since.major) + "." + std::to_string(row.since.minor)) != std::string::npos);
    CHECK(line.find(std::string(row.source)) != std::string::npos);
  }
}
