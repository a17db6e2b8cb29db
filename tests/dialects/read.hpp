// Files as a test writes them down, and the terms that were read of them.
#pragma once

#include "catch.hpp"
#include "dialects/reading.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc::test {

/// A file that names no other.
inline dialects::Reading read_alone(std::string_view text, std::string_view name) {
  return dialects::read_launch_file(text, name,
                                    [](const std::string&) { return std::optional<dialects::NamedFile>(); });
}

/// "-" where nothing is said of the term.
inline std::string word_of(const dialects::Reading& reading, std::string_view term) {
  const auto* word = read::find_word(reading.words, term);
  return word == nullptr ? "-" : word->text;
}

/// \param terms  "tp=2 sp=1 pp=-"
inline void check_terms(const dialects::Reading& reading, std::string_view terms) {
  for (const auto term : quantity::pieces_of(terms, " ")) {
    const auto equals = term.find('=');
    CAPTURE(term);
    CHECK(word_of(reading, term.substr(0, equals)) == term.substr(equals + 1));
  }
}

/// A file that somebody published, where it stands or what it is about.
struct PublicFile {
  std::string_view file;
  std::string_view text;   ///< its keys that decide, as they are written
  std::string_view terms;  ///< "tp=2 ...", "-" where nothing is said
};

/// No word is from a line that is empty or behind the last one.
inline void check_places(const dialects::Reading& reading, std::string_view text, std::string_view name) {
  const auto lines = quantity::pieces_of(text, "\n");
  for (const auto& word : reading.words) {
    auto where = quantity::without_start(word.origin.where, std::string(name) + ":");
    const auto line = quantity::take_number<std::size_t>(where);
    if (!line || where.starts_with('/')) continue;
    CAPTURE(word.term, word.origin.where);
    CHECK((*line > 0 && *line <= lines.size() && !quantity::trim(lines[*line - 1]).empty()));
  }
}

inline void check_public(std::span<const PublicFile> files, std::string_view name, std::string_view kind) {
  for (const auto& each : files) {
    CAPTURE(each.file);
    const auto reading = read_alone(each.text, name);
    CHECK(reading.kind == kind);
    CHECK(reading.unread.empty());
    check_places(reading, each.text, name);
    check_terms(reading, each.terms);
  }
}

}  // namespace llmcalc::test
