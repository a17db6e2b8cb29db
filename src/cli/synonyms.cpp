#include "cli/synonyms.hpp"

#include "quantity/lists.hpp"
#include "read/synonyms.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

bool is_flag(const std::vector<Flag>& flags, std::string_view name) {
  return quantity::contains(flags, name, &Flag::name);
}

/// The one of our options that a name of another program stands for under this verb.
std::string_view synonym_of(std::string_view name, const std::vector<Flag>& flags) {
  const auto ours = read::synonyms_of(name);
  const auto found = std::ranges::find_if(ours, [&](std::string_view option) { return is_flag(flags, option); });
  return found == ours.end() ? std::string_view() : *found;
}

bool is_option(const std::string& word) { return word.starts_with("--"); }

}  // namespace

std::vector<std::string> in_our_words(const std::vector<Flag>& flags, std::span<const std::string> words) {
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const auto name = is_option(word) ? std::string_view(word).substr(2, word.find('=') - 2) : std::string_view();
    const auto synonym = name.empty() || is_flag(flags, name) ? std::string_view() : synonym_of(name, flags);
    if (synonym.empty()) {
      ours.push_back(word);
      continue;
    }
    ours.push_back("--" + std::string(synonym) + word.substr(2 + name.size()));
    const bool alone = word.size() == 2 + name.size() && (i + 1 == words.size() || is_option(words[i + 1]));
    if (alone && synonym == "recompute") ours.emplace_back("full");
  }
  return ours;
}

}  // namespace llmcalc::cli
