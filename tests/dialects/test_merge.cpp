// Several things together: whatever two files say, together they say all of it, and of one term what the later says.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::merging {

namespace fs = std::filesystem;

namespace {

/// One file of each dialect.
std::vector<dialects::Reading> readings() {
  std::vector<dialects::Reading> all;
  for (const auto& entry : fs::recursive_directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    const auto& path = entry.path();
    const bool is_input = path.parent_path().filename().string().starts_with("from-") && path.has_extension();
    if (!is_input || !entry.is_regular_file() || entry.file_size() > 20'000) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
      auto reading = dialects::read_launch_file(
          text, path.filename().string(), [](const std::string&) { return std::optional<dialects::NamedFile>(); });
      if (!quantity::contains(all, reading.kind, &dialects::Reading::kind)) all.push_back(std::move(reading));
    } catch (const quantity::BadInput&) {
      continue;  // without the files beside it
    }
  }
  return all;
}

std::string said_of(const dialects::Reading& reading, const std::string& term) {
  const auto* word = read::find_word(reading.words, term);
  return word == nullptr ? "" : word->text;
}

void check_together(const dialects::Reading& first, const dialects::Reading& next) {
  CAPTURE(first.kind, next.kind);
  const auto both = dialects::merge({first, next});
  CHECK(both.kind == first.kind + ", " + next.kind);
  CHECK(both.serves == (first.serves || next.serves));
  CHECK(both.weights.has_value() == (first.weights || next.weights));
  CHECK(both.config.has_value() == (first.config || next.config));
  CHECK(both.usual_framework == (first.usual_framework.empty() ? next : first).usual_framework);
  for (const auto* one : {&first, &next}) {
    for (const auto& key : one->unread) CHECK(quantity::contains(both.unread, key));
  }
  for (const auto& word : both.words) {
    CHECK((read::has_word(first.words, word.term) || read::has_word(next.words, word.term)));
  }
  for (const auto& word : next.words) {
    CAPTURE(word.term, word.text);
    // Types of weights are widened or narrowed by what shards them beside.
    if (word.origin.source == spec::Source::file && word.term != "dtype") CHECK(said_of(both, word.term) == word.text);
  }
}

}  // namespace

TEST_CASE("two files together say what both say, and of one term what the later says") {
  const auto all = readings();
  CHECK(all.size() > 25);
  dialects::Reading weights;
  weights.kind = "weights";
  weights.weights.emplace();
  weights.config.emplace();
  for (const auto& first : all) {
    for (const auto& next : all) check_together(first, next);
    check_together(first, weights);
    check_together(weights, first);
  }
}

TEST_CASE("passes over data of no known size are told where a file says them, and not where nobody does") {
  const auto told = [](spec::Source source, const std::string& beside) {
    dialects::Reading reading;
    reading.words.push_back({"epochs", "3", {source, "a.yaml:1"}});
    if (!beside.empty()) reading.words.push_back({beside, "10", {spec::Source::file, "a.yaml:2"}});
    return dialects::unused_data(reading, reading.words).size();
  };
  CHECK(told(spec::Source::file, "") == 1);
  CHECK(told(spec::Source::default_value, "") == 0);
  for (const char* beside : {"samples", "steps", "tokens"}) CHECK(told(spec::Source::file, beside) == 0);
}

}  // namespace llmcalc::merging
