// Questions as one line of words, for laws over products of them.
#pragma once

#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::test {

/// Words apart by blanks, as a shell takes them.
inline std::vector<std::string> words_in(const std::string& line) {
  std::vector<std::string> words;
  for (const auto word : quantity::pieces_of(line, " ")) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

/// Nothing where it is refused.
inline std::optional<cli::Outcome> outcome_of(const std::string& line) try {
  return cli::run(words_in(line), cli::Environment{});
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

/// The JSON of an answer; null where it is refused.
inline nlohmann::json answered(const std::string& line) {
  const auto outcome = outcome_of(line + " --format json");
  return outcome ? nlohmann::json::parse(outcome->answer) : nlohmann::json();
}

}  // namespace llmcalc::test
