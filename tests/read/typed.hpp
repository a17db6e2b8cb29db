// What a command line of words resolves to.
#pragma once

#include "catch.hpp"
#include "llmcalc/read/resolve.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// "--seq 8k --gpu h100-sxm:8" as words; a flag that stands twice counts the last time.
inline std::vector<read::Given> words(std::string_view line, read::Source source = read::Source::flag) {
  std::vector<read::Given> given;
  while (!line.empty()) {
    const auto end = std::min(line.find(" --"), line.size());
    const std::string flag(line.substr(0, line.find(' ')));
    const auto text = line.substr(flag.size() + 1, end - flag.size() - 1);
    std::string term = flag.substr(2);
    std::ranges::replace(term, '-', '_');
    std::erase_if(given, [&](const auto& word) { return word.term == term; });
    given.push_back({term, std::string(text), {source, flag}});
    line.remove_prefix(end == line.size() ? end : end + 1);
  }
  return given;
}

inline read::Resolved ask(std::string_view line) { return read::resolve(words(line), std::nullopt, read::Catalogue()); }

/// What is echoed of a term.
inline read::Echo echoed(const read::Resolved& resolved, std::string_view term) {
  const auto found = std::ranges::find(resolved.echo, term, &read::Echo::term);
  REQUIRE(found != resolved.echo.end());
  return *found;
}

}  // namespace llmcalc::test
