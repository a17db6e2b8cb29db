#include "render/understood.hpp"

#include "render/inner/json_question.hpp"
#include "render/inner/wrap.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace llmcalc::render {
namespace {

/// In single quotes where a shell would read anything into it.
std::string quoted_word(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string option_of(const std::string& term) {
  std::string option = "--" + term;
  std::ranges::replace(option, '_', '-');
  return option;
}

std::string list(std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  constexpr std::size_t indent = 4;
  std::string text = "\n  " + std::string(heading) + "\n";
  for (const auto& item : items) text.append("  - ").append(wrapped(item, indent, indent)).append("\n");
  return text;
}

}  // namespace

std::string command_of(const Understood& question) {
  std::string command = "llmcalc " + question.verb;
  for (const auto& word : question.words) {
    command.append(" ").append(option_of(word.term)).append(" ").append(quoted_word(word.value));
  }
  return command;
}

std::string to_text(const Understood& question) {
  std::string text = command_of(question) + "\n";
  std::size_t width = 0;
  const auto said = [](const EchoLine& word) { return option_of(word.term).substr(2) + " " + word.value; };
  for (const auto& word : question.words) width = std::max(width, said(word).size());
  width = std::min(width, std::size_t{36});
  if (!question.words.empty()) text += "\n  " + question.kind + "\n";
  for (const auto& word : question.words) {
    std::string line = said(word);
    line.append(line.size() < width ? width - line.size() : 0, ' ');
    text.append("  ").append(line).append("  ").append(word.where).append("\n");
  }
  return text + list("assumed", question.assumptions) + list("not read", question.unread);
}

std::string to_json(const Understood& question) {
  Json object = json_answer("from", question.version);
  object["read"] = question.kind;
  object["command"] = command_of(question);
  object["question"] = question_json(question.words);
  object["assumptions"] = question.assumptions;
  object["not_read"] = question.unread;
  return dump(object);
}

}  // namespace llmcalc::render
