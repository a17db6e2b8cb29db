#include "render/understood.hpp"

#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/page.hpp"

#include <algorithm>

namespace llmcalc::render {

namespace {

std::string list(std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  constexpr std::size_t indent = 4;
  std::string text = "\n  " + std::string(heading) + "\n";
  for (const auto& item : items) text.append("  - ").append(wrapped(item, indent, indent)).append("\n");
  return text;
}

}  // namespace

std::string options_of(std::span<const spec::Word> words) {
  const auto option = [](const spec::Word& word) { return spec::option_of(word.term) + " " + word.text; };
  return quantity::joined(words, " ", option);
}

std::string command_of(const Understood& question) {
  std::string command = "llmcalc " + question.verb;
  for (const auto& word : question.words) {
    command.append(" ").append(spec::option_of(word.term)).append(" ").append(shell_word(word.text));
  }
  return command;
}

std::string to_text(const Understood& question) {
  std::string text = command_of(question) + "\n";
  std::size_t width = 0;
  const auto said = [](const spec::Word& word) { return spec::option_of(word.term).substr(2) + " " + word.text; };
  for (const auto& word : question.words) width = std::max(width, said(word).size());
  width = std::min(width, std::size_t{36});
  if (!question.words.empty()) text += "\n  " + shown(question.kind, Medium::line) + "\n";
  for (const auto& word : question.words) {
    std::string line = shown(said(word), Medium::line);
    line.append(line.size() < width ? width - line.size() : 0, ' ');
    text.append("  ").append(line).append("  ").append(shown(word.origin.where, Medium::line)).append("\n");
  }
  return on_screen(text + list("assumed", sentences(question.assumptions)) + list("not read", question.unread));
}

}  // namespace llmcalc::render
