// Questions of a server as a person types them.
#pragma once

#include "llmcalc/read/resolve.hpp"

#include <string>
#include <vector>

namespace llmcalc::test {

/// {"model", "llama-3-8b", "tp", "2"}
inline spec::Question served(const std::vector<std::string>& words) {
  std::vector<read::Given> given;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    given.push_back({words[i], words[i + 1], {read::Source::flag, "--" + words[i]}});
  }
  return read::resolve_serving(given, std::nullopt, read::Catalogue()).question;
}

}  // namespace llmcalc::test
