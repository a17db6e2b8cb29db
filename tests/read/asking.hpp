// Questions as a person types them, for tests of what is made of them.
#pragma once

#include "llmcalc/read/resolve.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// "--seq 8k --gpu h100-sxm:8" as the command line would hand it over.
inline std::vector<read::Given> words(std::string_view line, read::Source source = read::Source::flag) {
  std::vector<read::Given> given;
  while (!line.empty()) {
    const auto end = std::min(line.find(" --"), line.size());
    const auto flag = line.substr(2, line.find(' ') - 2);
    const auto text = line.substr(flag.size() + 3, end - flag.size() - 3);
    given.push_back({std::string(flag), std::string(text), {source, "--" + std::string(flag)}});
    line.remove_prefix(end == line.size() ? end : end + 1);
  }
  return given;
}

inline read::Resolved ask(std::string_view line) { return read::resolve(words(line), std::nullopt, read::Catalogue()); }

}  // namespace llmcalc::test
