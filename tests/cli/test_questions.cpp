// Questions as people type them, each with what an expert expects of its answer: tests/cli/questions.txt says how.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

/// Words of a line as a shell tells them apart: blanks part them, but not between two quotation marks.
Words words_of(const std::string& line) {
  Words words;
  std::istringstream parts(line);
  for (std::string part; parts >> std::ws && !parts.eof();) {
    if (parts.peek() == '"') {
      parts.get();
      std::getline(parts, part, '"');
    } else {
      parts >> part;
    }
    words.push_back(part);
  }
  return words;
}

struct Reply {
  std::string text;  ///< both streams, a blank between words
  std::string ending;
};

const char* ending_of(const cli::Outcome& outcome) {
  if (outcome.code == ExitCode::does_not_fit) return "no";
  if (outcome.code == ExitCode::bad_question) return "refused";
  return outcome.answer.starts_with("NO VERDICT") ? "open" : "yes";
}

Reply reply_to(const Words& words) {
  std::string said;
  Reply reply;
  try {
    const auto outcome = cli::run(words, cli::Environment{});
    for (const auto& warning : outcome.warnings) said += warning + "\n";
    said += outcome.answer;
    reply.ending = ending_of(outcome);
  } catch (const quantity::BadInput& refused) {
    said = refused.what();
    reply.ending = "refused";
  }
  std::istringstream blanks(said);
  for (std::string word; blanks >> word;) reply.text += word + ' ';
  return reply;
}

json described(Words words) {
  words.insert(words.end(), {"--format", "json"});
  return json::parse(cli::run(words, cli::Environment{}).answer);
}

bool is_between(const json& figure, const std::string& range, double unit) {
  const auto dots = range.find("..");
  if (!figure.is_number()) return false;
  const double value = figure.get<double>() / unit;
  return std::stod(range) <= value && value <= std::stod(range.substr(dots + 2));
}

bool is_advised(const json& answer, const std::string& change) {
  return std::ranges::any_of(answer["advice"], [&](const json& advice) {
    return advice[advice.contains("flag") ? "flag" : "change"].get<std::string>().find(change) != std::string::npos;
  });
}

bool holds_in(const json& answer, const std::string& kind, const std::string& expected) {
  if (kind == "needs") return is_between(answer["needed_bytes"], expected, 1024.0 * 1024 * 1024);
  if (kind == "advice") return is_advised(answer, expected);
  if (kind.starts_with("/")) return is_between(answer.at(json::json_pointer(kind)), expected, 1);
  const auto equals = kind.find('=');
  return equals != std::string::npos && answer["question"][kind.substr(0, equals)]["value"] == kind.substr(equals + 1);
}

bool says(const std::string& text, const std::string& expected) {
  return quantity::to_lower(text).find(quantity::to_lower(expected)) != std::string::npos;
}

bool holds(const Words& words, const Reply& reply, const std::string& expectation) {
  const auto blank = expectation.find(' ');
  const auto kind = expectation.substr(0, blank);
  const auto expected = blank == std::string::npos ? "" : expectation.substr(blank + 1);
  if (kind == "says") return says(reply.text, expected);
  if (kind == "never") return !says(reply.text, expected);
  return holds_in(described(words), kind, expected);
}

/// Whether a mistake begins with its place: an option, or something that was typed.
bool names_its_place(const Words& words, const std::string& text) {
  const auto place = text.substr(0, text.find_first_of(": "));
  return place.starts_with('-') || place.starts_with('\'') || text.starts_with("there is no verb") ||
         std::ranges::find(words, place) != words.end();
}

std::vector<std::string> expectations_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream parts(text.substr(0, text.find(" ##")));
  for (std::string part; std::getline(parts >> std::ws, part, ';');) all.push_back(part);
  return all;
}

}  // namespace

TEST_CASE("questions as people type them have the answers that an expert expects", "[long]") {
  std::ifstream file(LLMCALC_TEST_DATA "/cli/questions.txt");
  std::size_t asked_lines = 0, with_a_source = 0;
  for (std::string line; std::getline(file, line);) {
    const auto arrow = line.find(" => ");
    if (line.starts_with('#') || arrow == std::string::npos) continue;
    INFO(line);
    const auto words = words_of(line.substr(0, arrow));
    const auto reply = reply_to(words);
    const auto expectations = expectations_of(line.substr(arrow + 4));
    INFO(reply.text);
    CHECK(reply.ending == expectations.front());
    if (reply.ending == "refused") CHECK(names_its_place(words, reply.text));
    for (std::size_t at = 1; at < expectations.size(); ++at) {
      INFO(expectations[at]);
      CHECK(holds(words, reply, expectations[at]));
    }
    ++asked_lines;
    with_a_source += line.find(" ## ") != line.npos;
  }
  CHECK(asked_lines > 750);
  CHECK(with_a_source >= 450);
}
