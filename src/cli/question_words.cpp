#include "cli/question_words.hpp"

#include "cli/files.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace llmcalc::cli {
namespace {

void add_word(const Arguments& arguments, std::string_view term, std::vector<read::Given>& words) {
  const auto flag = read::option_name(term);
  const std::string* value = arguments.find(flag);
  if (value != nullptr) words.push_back({std::string(term), *value, {read::Source::flag, "--" + flag}});
}

}  // namespace

std::vector<read::Given> words_of(const Arguments& arguments) {
  std::vector<read::Given> words;
  for (const auto& word : read::shorthands()) add_word(arguments, word.name, words);
  for (const auto& term : read::vocabulary()) add_word(arguments, term.name, words);
  return words;
}

std::vector<read::Given> serving_words_of(const Arguments& arguments) {
  std::vector<read::Given> words;
  for (const auto& word : read::shorthands()) {
    if (read::describes_model(word)) add_word(arguments, word.name, words);
  }
  for (const auto& term : read::serving_vocabulary()) add_word(arguments, term.name, words);
  return words;
}

std::optional<read::ConfigText> read_config_text(const std::vector<read::Given>& words) {
  const auto* named = read::find_word(words, "config");
  if (named == nullptr) return std::nullopt;
  std::filesystem::path path = named->text;
  if (is_folder(path)) path /= "config.json";
  return read::ConfigText{path.string(), read_file(path, "--config")};
}

}  // namespace llmcalc::cli
