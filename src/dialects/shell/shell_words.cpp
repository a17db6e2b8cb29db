#include "dialects/shell/shell_words.hpp"

#include "dialects/core/names.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/node.hpp"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace llmcalc::dialects {
namespace {

std::vector<ShellGap> gaps_of(const ShellWord& word) {
  if (word.unknown.empty() || !word.gaps.empty()) return word.gaps;
  return {{0, word.unknown}};
}

/// Of several unknowns in one place the last is named, so that there are no more gaps than there is text.
void mark(ShellWord& word, std::size_t at, const std::string& name) {
  word.unknown = name;
  if (word.gaps.empty() || word.gaps.back().at != at) word.gaps.push_back({at, {}});
  word.gaps.back().name = name;
}

/// Lists of short words grow faster than their text.
constexpr std::size_t weight_of_word = 16;

std::size_t size_of(const ShellWord& word) {
  std::size_t size = word.text.size();
  for (const ShellGap& gap : word.gaps) size += sizeof(ShellGap) + gap.name.size();
  return size + weight_of_word;
}

}  // namespace

void append(ShellWord& word, const ShellWord& more) {
  const std::size_t begin = word.text.size();
  for (const ShellGap& gap : gaps_of(more)) mark(word, begin + gap.at, gap.name);
  word.text += more.text;
}

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool ends_word(char c) { return c == '\0' || std::string_view(" \t\r\n;&|()<>").find(c) != std::string_view::npos; }

char ShellWords::peek(std::size_t ahead) const {
  return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
}

bool ShellWords::continues_line() const {
  const bool mark = peek() == '\\' || peek() == '`' || peek() == '^';
  return mark && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'));
}

char ShellWords::next() {
  if (at_end()) return '\0';
  if (text_[position_] == '\n') ++line_;
  return text_[position_++];
}

void ShellWords::skip(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) next();
}

void ShellWords::fail(const std::string& problem) const {
  throw quantity::BadInput(fmt::format("{}:{}", place_, line_), problem);
}

void ShellWords::count(std::size_t size) {
  size_ += size + 1;
  if (size_ > largest_settings) fail("expands to more than 1 MiB");
}

void ShellWords::set(const std::string& name, Words value) {
  ShellWord joined{"", line_, {}};
  for (const ShellWord& word : value) {
    if (!joined.text.empty()) joined.text += ' ';
    append(joined, word);
    count(size_of(word));
  }
  if (!value.empty()) joined.line = value.front().line;
  variables_[name] = std::move(joined);
  arrays_[name] = std::move(value);
}

const ShellWords::Words* ShellWords::list(const std::string& name) const {
  const auto found = arrays_.find(name);
  return found == arrays_.end() ? nullptr : &found->second;
}

ShellWords::Words ShellWords::value_of(const std::string& name) const {
  const Words* found = list(name);
  return found == nullptr ? unknown(name) : *found;
}

ShellWords::Words ShellWords::read_words(bool splits) {
  Words done;
  ShellWord word{"", line_, {}};
  bool any = false;
  while (!ends_word(peek())) {
    const char c = peek();
    if (continues_line()) break;
    if (c == '\'') {
      any = true;
      read_single_quotes(word);
    } else if (c == '"') {
      any = true;
      read_double_quotes(word, done);
    } else if (c == '\\') {
      next();
      if (peek() == '\n' || at_end()) break;
      word.text += next();
      any = true;
    } else if (c == '$' || c == '`') {
      any = put(expand(), splits, word, done) || any;
    } else {
      word.text += next();
      any = true;
    }
    count(1);
  }
  if (any || !word.unknown.empty()) done.push_back(std::move(word));
  return done;
}

/// Adds an expanded value to the word that is being read; where it splits, all but its last part are done.
bool ShellWords::put(const Words& value, bool splits, ShellWord& word, Words& done) {
  bool any = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    count(size_of(value[i]));
    if (i > 0 && splits) done.push_back(std::exchange(word, {"", value[i].line, {}}));
    if (i > 0 && !splits) word.text += ' ';
    if (word.text.empty()) word.line = value[i].line;
    if (splits) {
      split(value[i], word, done);
    } else {
      append(word, value[i]);
    }
    any = any || !word.text.empty();
  }
  return any;
}

/// An unknown stays in the part that it stands in.
void ShellWords::split(const ShellWord& value, ShellWord& word, Words& done) {
  const std::vector<ShellGap> gaps = gaps_of(value);
  auto gap = gaps.begin();
  for (std::size_t at = 0;; ++at) {
    for (; gap != gaps.end() && gap->at == at; ++gap) mark(word, word.text.size(), gap->name);
    if (at == value.text.size()) return;
    const char c = value.text[at];
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    const bool any = !word.text.empty() || !word.unknown.empty();
    if (blank && any) done.push_back(std::exchange(word, {"", value.line, {}}));
    if (!blank) word.text += c;
  }
}

void ShellWords::read_single_quotes(ShellWord& word) {
  next();
  while (peek() != '\'') {
    if (at_end()) fail("a quote is not closed");
    word.text += next();
  }
  next();
}

void ShellWords::read_double_quotes(ShellWord& word, Words& done) {
  next();
  while (peek() != '"') {
    const char c = peek();
    if (at_end()) fail("a quote is not closed");
    if (c == '\\') {
      next();
      const char escaped = next();
      if (escaped != '\n' && std::string_view("\"\\$`").find(escaped) == std::string_view::npos) word.text += '\\';
      if (escaped != '\n') word.text += escaped;
    } else if (c == '$' || c == '`') {
      quoted_list_ = false;
      const Words value = expand();
      if (!quoted_list_) put(value, false, word, done);
      for (std::size_t i = 0; quoted_list_ && i < value.size(); ++i) {  // "${LIST[@]}" is a word for each item
        count(size_of(value[i]));
        if (i > 0) done.push_back(std::exchange(word, {"", value[i].line, {}}));
        append(word, value[i]);
        word.line = value[i].line;
      }
    } else {
      word.text += next();
    }
    count(1);
  }
  next();
}

}  // namespace llmcalc::dialects
