// Questions of a server as a person types them.
#pragma once

#include "read/resolve.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::test {

/// Words behind others.
inline std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// {"model", "llama-3-8b", "tp", "2"}
/// \param config  the text of a config.json in place of a preset
/// \param source  of the words: a launch's are those of a file
inline spec::Question served(const std::vector<std::string>& words, const std::string& config = {},
                             read::Source source = read::Source::flag) {
  std::vector<read::Given> given;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    given.push_back({words[i], words[i + 1], {source, "--" + words[i]}});
  }
  std::optional<read::ConfigText> shape;
  if (!config.empty()) shape = read::ConfigText{"config.json", config};
  return read::resolve_serving(given, shape, read::Catalogue()).question;
}

}  // namespace llmcalc::test
