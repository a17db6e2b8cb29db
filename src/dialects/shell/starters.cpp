#include "dialects/shell/starters.hpp"

#include "dialects/core/format.hpp"
#include "dialects/shell/command.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

namespace llmcalc::dialects {
namespace {

constexpr Starter starters[] = {
#include "dialects/starters.inc"
};

/// What programs that teach preferences have in their names, as examples/scripts of trl have them.
struct AlgorithmWord {
  std::string_view word;
  std::string_view algorithm;
};
constexpr AlgorithmWord algorithm_words[] = {{"dpo", "dpo"},   {"kto", "kto"},   {"orpo", "orpo"}, {"cpo", "cpo"},
                                             {"grpo", "grpo"}, {"rloo", "rloo"}, {"ppo", "ppo"}};

/// "swift/cli/sft.py" is the end of a path, "sft.py" its last part.
bool is_called(std::string_view word, std::string_view name) {
  if (name.find('/') == std::string_view::npos) return base_name(word) == name;
  return word == name || (word.ends_with(name) && word[word.size() - name.size() - 1] == '/');
}

}  // namespace

Started starter_of(const std::vector<ShellWord>& words) {
  for (const Starter& starter : starters) {
    auto name = starter.name;
    std::size_t count = 0;
    while (!name.empty() && count < words.size()) {
      const auto part = name.substr(0, name.find(' '));
      if (!is_called(words[count].text, part)) break;
      ++count;
      name.remove_prefix(std::min(part.size() + 1, name.size()));
    }
    if (name.empty()) return {&starter, count};
  }
  return {};
}

std::string_view algorithm_named_in(std::string_view program) {
  const auto name = base_name(program);
  if (!name.ends_with(".py")) return {};
  for (const auto part : quantity::pieces_of(name, "_-.")) {
    if (const auto* named = quantity::find_or_null(algorithm_words, part, &AlgorithmWord::word))
      return named->algorithm;
  }
  return {};
}

}  // namespace llmcalc::dialects
