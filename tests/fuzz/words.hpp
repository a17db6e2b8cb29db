// Any bytes as the words of a question.
#pragma once

#include "read/words.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::fuzz {

/// Lines of "term=text"; others are left out.
inline std::vector<read::Given> words_of(std::string_view text) {
  std::vector<read::Given> words;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string term(line.substr(0, equals));
    words.push_back({term, std::string(line.substr(equals + 1)), {read::Source::flag, "--" + term}});
  }
  return words;
}

}  // namespace llmcalc::fuzz
