// Questions for tests, as one would type them.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/read/resolve.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// "--seq 8k --gpu h100-sxm" as words; a flag that stands twice counts the last time.
inline std::vector<read::Given> words(std::string_view line) {
  std::vector<read::Given> given;
  while (!line.empty()) {
    const auto end = std::min(line.find(" --"), line.size());
    std::string flag(line.substr(2, line.find(' ') - 2));
    const auto text = line.substr(flag.size() + 3, end - flag.size() - 3);
    std::ranges::replace(flag, '-', '_');
    std::erase_if(given, [&](const auto& word) { return word.term == flag; });
    given.push_back({flag, std::string(text), {read::Source::flag, "--" + flag}});
    line.remove_prefix(end == line.size() ? end : end + 1);
  }
  return given;
}

inline spec::Question question(std::string_view line) {
  return read::resolve(words(line), std::nullopt, read::Catalogue()).question;
}

inline answer::Estimate advised(const spec::Question& question, const answer::LargerAccelerators& larger = {}) {
  auto estimate = answer::estimate(question);
  answer::advise(question, larger, estimate);
  return estimate;
}

}  // namespace llmcalc::test
