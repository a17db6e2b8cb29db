#include "llmcalc/spec/word.hpp"

#include <algorithm>

namespace llmcalc::spec {

std::string option_of(std::string_view term) {
  std::string option = "--" + std::string(term);
  std::ranges::replace(option, '_', '-');
  return option;
}

std::string Assumption::sentence() const {
  if (!is_option()) return words;
  return option_of(term) + " " + text + (words.empty() ? "" : ", " + words);
}

}  // namespace llmcalc::spec
