#include "read/words/terms.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"
#include "llmcalc/quantity/text.hpp"

namespace llmcalc::read {

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> split_list(std::string_view text, std::string_view place) {
  std::vector<std::string> items;
  while (true) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    if (item.empty()) throw quantity::BadInput(std::string(place), "a list may not have an empty item");
    items.emplace_back(item);
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::string join_list(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text.append(text.empty() ? "" : ",").append(item);
  return text;
}

void throw_unknown_word(std::string_view text, std::string_view place, const std::vector<std::string_view>& known) {
  std::string problem = quantity::quoted(text) + " is not one of ";
  for (const auto word : known) problem.append(word == known.front() ? "" : ", ").append(word);
  throw quantity::BadInput(std::string(place), std::move(problem), quantity::did_you_mean(text, known));
}

}  // namespace llmcalc::read
