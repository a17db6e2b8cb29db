// Questions for tests, as one would type them.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "read/typed.hpp"
#include "spec/names.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// A word for each value of an enumeration.
template <class E>
std::vector<std::string> words_for() {
  std::set<E> seen;
  std::vector<std::string> words;
  for (const auto& word : spec::vocabulary<E>()) {
    if (seen.insert(word.value).second) words.emplace_back(word.name);
  }
  return words;
}

inline spec::Question question(std::string_view line, const read::Catalogue& catalogue = {}) {
  return ask(line, catalogue).question;
}

}  // namespace llmcalc::test
