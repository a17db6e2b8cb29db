#include "read/words/plan_lists.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words/plan_choices.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

/// "2,048": as the other verbs read it one number, whose groups are of three digits.
bool is_grouped_number(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma > 3) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separates = i >= comma && (i - comma) % 4 == 0;
    if (separates ? text[i] != ',' : !quantity::is_digit(text[i])) return false;
  }
  return (text.size() - comma) % 4 == 0;
}

/// A list of numbers never holds 048. Where all groups could be numbers of their own, what is large as a rule is asked
/// back; numbers of accelerators and the like are lists.
void refuse_grouped_number(const Given& word) {
  const std::string_view text = quantity::trim(word.text);
  if (!is_grouped_number(text)) return;
  const bool has_leading_zero = text.find(",0") != std::string_view::npos;
  const bool is_large = word.term == "params" || canonical(word.term) == "seq";
  if (!has_leading_zero && !is_large) return;
  std::string number;
  std::string list;
  for (const char c : text) {
    if (c != ',') number += c;
    list.append(c == ',' ? ", " : std::string(1, c));
  }
  throw quantity::BadInput(word.origin.where, quantity::quoted(text) + " can be a number or a list",
                           number + ", or '" + list + "' for the list");
}

}  // namespace

std::vector<Given> parts_of(const Given& word) {
  refuse_grouped_number(word);
  const auto part = [&](const std::string& text) { return Given{word.term, text, word.origin}; };
  return quantity::mapped(split_list(word.text, word.origin.where), part);
}

}  // namespace llmcalc::read
