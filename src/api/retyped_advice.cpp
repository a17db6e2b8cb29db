#include "api/retyped_advice.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/vocabulary.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace llmcalc::api {
namespace {

using read::Given;

/// "--tp 2 --dp 4" as words.
std::vector<Given> words_in(const std::string& flags) {
  std::vector<Given> words;
  std::istringstream text(flags);
  for (std::string option, value; text >> option >> value;) {
    std::string term = option.substr(2);
    std::ranges::replace(term, '-', '_');
    words.push_back({std::move(term), value, {read::Source::flag, option}});
  }
  return words;
}

/// What is asked by the words with those of the advice in their place.
spec::Question typed(const Asked& asked, const search::Advice& advice) {
  std::vector<Given> words = words_in(advice.flag);
  for (const Given& word : asked.words) {
    if (std::ranges::find(words, word.term, &Given::term) == words.end()) words.push_back(word);
  }
  return resolve(words, asked.config, asked.catalogue, asked.values).question;
}

}  // namespace

bool retype(const Asked& asked, const spec::Question& question, search::Advice& advice) try {
  for (const auto& word : asked.words) {
    const read::Term* term = read::find_term(word.term);
    if (term == nullptr) continue;
    const std::string option = "--" + read::option_name(term->name) + " ";
    const std::string value = term->show(advice.question);
    const bool said = (advice.flag + " ").find(option) != std::string::npos;
    if (said || value.empty() || value == term->show(question)) continue;
    advice.flag.append(" ").append(option).append(value);
  }
  return answer::estimate(typed(asked, advice)).memory.peak_needed == advice.needed;
} catch (const quantity::BadInput&) {
  return false;
}

}  // namespace llmcalc::api
