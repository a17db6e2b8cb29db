#include "dialects/shell/shell.hpp"

#include "dialects/core/names.hpp"
#include "dialects/shell/shell_reader.hpp"
#include "dialects/shell/shell_variables.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/node.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::dialects {
namespace {

constexpr std::array<std::string_view, 4> loops{"for", "while", "until", "select"};
constexpr std::array<std::string_view, 3> closers{"fi", "done", "esac"};
constexpr std::array<std::string_view, 8> fillers{"then", "else", "elif", "do", "{", "}", "!", "time"};
constexpr std::array<std::string_view, 4> declarations{"export", "declare", "local", "readonly"};

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& names, std::string_view name) {
  return quantity::contains(names, name);
}

/// The length of "NAME=" or "NAME+=" at the front of a text; 0 where there is none.
std::size_t assignment_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == 0 || quantity::is_digit(text[0])) return 0;
  if (text.substr(end, 2) == "+=") return end + 2;
  return text.substr(end, 1) == "=" ? end + 1 : 0;
}

}  // namespace

Script Shell::read() && {
  while (!at_end()) step();
  finish_command();
  return std::move(script_);
}

void Shell::step() {
  const char c = peek();
  if (continues_line()) {
    while (next() != '\n') {
    }
  } else if (c == ' ' || c == '\t' || c == '\r') {
    next();
  } else if (c == '#') {
    read_comment();
  } else if (branches_.expects_pattern() && c != '\n') {
    read_patterns();
  } else if (c == '<' || c == '>') {
    read_redirection();
  } else if (ends_word(c)) {
    end_command(next());
  } else {
    read_element();
  }
}

void Shell::end_command(char c) {
  if (c == '\n' && document_) read_document();
  if (c == '&' && peek() == '>') return;
  const bool twice = peek() == c;
  finish_command(twice && (c == '&' || c == '|') ? c : '\0');
  if (twice && c == ';') branches_.end_clause();
  if (twice && (c == ';' || c == '&' || c == '|')) next();
}

void Shell::read_comment() {
  const auto comment = rest_of_line();
  constexpr std::string_view directive = "#SBATCH";
  if (comment.starts_with(directive)) {
    script_.directives.push_back({std::string(comment.substr(directive.size())), line(), {}});
    const ShellWord& said = script_.directives.back();
    for (auto& [name, count] : job_variables(said.text)) set(name, {{count, said.line, {}}});
  }
  skip(comment.size());
}

void Shell::read_patterns() {
  constexpr std::string_view end = "esac";
  if (rest().starts_with(end)) {
    skip(end.size());
    return branches_.close();
  }
  Words patterns;
  while (!at_end() && peek() != ')' && peek() != '\n') {
    Words words = read_words();
    if (words.empty()) next();
    std::move(words.begin(), words.end(), std::back_inserter(patterns));
  }
  next();
  branches_.take_patterns(patterns);
}

void Shell::read_element() {
  const std::size_t length = assignment_at(rest());
  if (length > 0 && (words_.empty() || declares())) return read_assignment(length);
  for (ShellWord& word : read_words()) {
    const bool channel = word.text.size() == 1 && quantity::is_digit(word.text[0]);
    if (!channel || (peek() != '>' && peek() != '<')) add(std::move(word));  // the 2 of "2>&1" is no word
  }
}

void Shell::add(ShellWord word) {
  const bool first = words_.empty();
  if (first && word.text == "then") branches_.take_then();
  if (first && word.text == "else") branches_.take_else();
  if (first && word.text == "elif") branches_.start_condition();
  if (first && is_among(fillers, word.text)) return;
  if (first && is_among(closers, word.text)) branches_.close();
  if (first && word.text == "if") branches_.open_if();
  if (first && is_among(loops, word.text)) branches_.open_loop();
  words_.push_back(std::move(word));
  if (words_.size() == 3 && words_[0].text == "case" && words_[2].text == "in") {
    count(words_[1].text.size());
    branches_.open_case(std::move(words_[1]));
    words_.clear();
  }
}

void Shell::read_assignment(std::size_t length) {
  std::string name(rest().substr(0, length - 1));
  const bool appends = name.ends_with('+');
  if (appends) name.pop_back();
  skip(length);
  Words value;
  const bool list = peek() == '(';
  if (list) {
    value = read_list();
  } else if (!ends_word(peek())) {
    value = read_words(false);
  }
  if (value.empty()) value.push_back({"", line(), {}});
  const Words* earlier = ShellWords::list(name);
  if (appends && earlier != nullptr && list) {
    value.insert(value.begin(), earlier->begin(), earlier->end());
  } else if (appends && earlier != nullptr) {
    ShellWord longer = earlier->front();
    append(longer, value.front());
    longer.line = value.front().line;
    value.front() = std::move(longer);
  }
  if (reach() == Reach::maybe) value = {{"", line(), name + ", which is set under a condition"}};
  pending_.emplace_back(std::move(name), std::move(value));
}

ShellWords::Words Shell::read_list() {
  next();
  Words items;
  while (peek() != ')') {
    if (at_end()) fail("a list is not closed");
    const char c = peek();
    if (c == '#') {
      read_comment();
    } else if (ends_word(c) || continues_line()) {
      next();
    } else {
      for (ShellWord& word : read_words()) items.push_back(std::move(word));
    }
  }
  next();
  return items;
}

bool Shell::declares() const { return !words_.empty() && is_among(declarations, words_.front().text); }

Script parse_shell(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  return Shell(text, place).read();
}

}  // namespace llmcalc::dialects
