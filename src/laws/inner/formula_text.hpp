// Formulas as text, with words and with numbers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::laws {

/// The formula with each word replaced by its number: "6 x params" -> "6 x 7B". Words are replaced in their order, so
/// that "critical batch" has to stand before "batch".
inline std::string with_numbers(std::string_view formula,
                                std::initializer_list<std::pair<std::string_view, std::string>> numbers) {
  std::string text(formula);
  for (const auto& [word, number] : numbers) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + number.size())) {
      text.replace(at, word.size(), number);
    }
  }
  return text;
}

}  // namespace llmcalc::laws
