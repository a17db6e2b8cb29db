#include "api/retyped_advice.hpp"

#include "llmcalc/read/vocabulary.hpp"

#include <string>

namespace llmcalc::api {

void retype(const std::vector<read::Given>& words, const spec::Question& asked, search::Advice& advice) {
  for (const auto& word : words) {
    const read::Term* term = read::find_term(word.term);
    if (term == nullptr) continue;
    const std::string option = "--" + read::option_name(term->name) + " ";
    const std::string value = term->show(advice.question);
    const bool said = (advice.flag + " ").find(option) != std::string::npos;
    if (said || value.empty() || value == term->show(asked)) continue;
    advice.flag.append(" ").append(option).append(value);
  }
}

}  // namespace llmcalc::api
