#include "dialects/reading.hpp"
#include "dialects/shell/shell_reader.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace llmcalc::dialects {
namespace {

std::vector<ShellGap> gaps_of(const ShellWord& word) {
  if (word.unknown.empty() || !word.gaps.empty()) return word.gaps;
  return {{0, word.unknown}};
}

/// The last of several unknowns in one place is named, so that there are no more gaps than there is text.
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

/// Place of a text that stands at the front or the end of another; none where it does not.
std::size_t place_of_end(std::string_view text, std::string_view end, bool front) {
  if (front) return text.starts_with(end) ? 0 : text.npos;
  return text.ends_with(end) ? text.size() - end.size() : text.npos;
}

}  // namespace

void append(ShellWord& word, const ShellWord& more) {
  const std::size_t begin = word.text.size();
  for (const ShellGap& gap : gaps_of(more)) mark(word, begin + gap.at, gap.name);
  word.text += more.text;
}

std::string with_gaps(const ShellWord& word) {
  std::string text = word.text;
  auto gaps = word.gaps;
  if (gaps.empty() && !word.unknown.empty()) gaps.push_back({0, word.unknown});
  for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap) {
    const bool expands = gap->name.starts_with('$');
    const auto name = gap->name.substr(0, gap->name.find(','));  // of "N, which is set under a condition"
    text.insert(std::min(gap->at, text.size()), expands ? gap->name : "${" + name + "}");
  }
  return text;
}

bool ends_known(const ShellWord& word) {
  const auto last = word.text.rfind('/');
  const auto is_before = [&](const ShellGap& gap) { return gap.at <= last; };
  return last != word.text.npos && last + 1 < word.text.size() && std::ranges::all_of(gaps_of(word), is_before);
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
  if (found != nullptr) return *found;
  if (name == "HOME") return {{"~", line_, {}}};  // folders that every shell knows
  return name == "PWD" ? Words{{".", line_, {}}} : unknown(name);
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

/// The text between the bracket at hand and the one that closes it.
std::string ShellWords::bracketed(char open, char close) {
  std::string inner;
  int depth = 0;
  next();
  while (peek() != close || depth > 0) {
    if (at_end()) fail("an expansion is not closed");
    if (peek() == open) ++depth;
    if (peek() == close) --depth;
    inner += next();
  }
  next();
  return inner;
}

ShellWords::Words ShellWords::expand() {
  if (next() == '`') {
    while (peek() != '`' && !at_end()) next();
    next();
    return unknown("a command in backticks");
  }
  if (peek() == '(') return peek(1) == '(' ? expand_arithmetic() : expand_command();
  if (peek() == '{') return expand_braces(bracketed('{', '}'));
  return expand_name();
}

ShellWords::Words ShellWords::expand_name() {
  if (std::string_view("@*#?$!-0123456789").find(peek()) != std::string_view::npos && !at_end()) {
    return unknown(std::string("$") + next());
  }
  std::string name;
  while (is_name_char(peek())) name += next();
  if (name.empty()) return {{"$", line_, {}}};
  const Words value = value_of(name);
  return value.size() > 1 ? Words{value.front()} : value;  // of an array its first item
}

ShellWords::Words ShellWords::expand_arithmetic() {
  const std::string inner = bracketed('(', ')');
  if (inner.size() < 2) return unknown("an empty expression");
  const auto value = shell_arithmetic(std::string_view(inner).substr(1, inner.size() - 2), variables_);
  if (!value.known) return unknown("$(" + inner + ")");
  return {{std::to_string(value.value), line_, {}}};
}

/// The folder that a script stands in or is started in, and one from there: `pwd`, `dirname "$0"`, `cd PATH && pwd`.
std::optional<ShellWords::Words> ShellWords::folder_of(std::string_view command) {
  const bool own = command.starts_with("dirname ") &&
                   (command.find("$0") != command.npos || command.find("BASH_SOURCE") != command.npos);
  if (command == "pwd" || own) return Words{{".", line_, {}}};
  if (!command.starts_with("cd ") || !command.ends_with("pwd")) return std::nullopt;
  const auto path = quantity::without_start(command.substr(std::string_view("cd ").size()), "-- ");
  return expand_default(quantity::trim(path.substr(0, path.find_first_of("&>;"))));
}

/// The output of `expr` of integers, and of what says where a program is, which its name says as well; no other command
/// is run.
ShellWords::Words ShellWords::expand_command() {
  const std::string inner = bracketed('(', ')');
  if (auto folder = folder_of(inner)) return *std::move(folder);
  for (const std::string_view finder : {"command -v ", "which "}) {
    const auto program = quantity::without_start(inner, finder);
    const auto is_plain = [](char c) { return is_name_char(c) || c == '-' || c == '.' || c == '/'; };
    if (program.size() < inner.size() && std::ranges::all_of(program, is_plain))
      return {{std::string(program), line_, {}}};
  }
  constexpr std::string_view expr = "expr ";
  std::string expression = inner;
  std::erase(expression, '\\');
  if (!expression.starts_with(expr)) return unknown("$(" + inner + ")");
  const auto value = shell_arithmetic(std::string_view(expression).substr(expr.size()), variables_);
  return value.known ? Words{{std::to_string(value.value), line_, {}}} : unknown("$(" + inner + ")");
}

/// NAME, NAME[@], NAME:-default, NAME:=default, NAME-default, NAME:+text, NAME##pattern and its kin.
ShellWords::Words ShellWords::expand_braces(const std::string& inner) {
  std::size_t end = 0;
  while (end < inner.size() && is_name_char(inner[end])) ++end;
  const std::string name = inner.substr(0, end);
  const std::string_view tail = std::string_view(inner).substr(end);
  const bool argument = !name.empty() && quantity::is_digit(name.front());
  if (name.empty() || (argument && tail.empty())) return unknown("${" + inner + "}");
  if (tail.empty()) return value_of(name);
  if (tail == "[@]" || tail == "[*]") {
    quoted_list_ = tail == "[@]";
    return value_of(name);
  }
  const bool if_set = tail.starts_with(":+") || tail.starts_with('+');
  if (if_set && !argument) return expand_alternative(name, tail.substr(tail.find('+') + 1));
  if (!argument && (tail.front() == '#' || tail.front() == '%')) return expand_trimmed(name, tail);
  const bool colon = tail.starts_with(":-") || tail.starts_with(":=");
  if (!colon && !tail.starts_with('-')) return unknown("${" + inner + "}");
  const auto found = variables_.find(name);
  const bool is_set = found != variables_.end();
  const bool says = is_set && !(colon && found->second.text.empty() && found->second.unknown.empty());
  if (says) return value_of(name);
  Words value = expand_default(tail.substr(colon ? 2 : 1));
  if (tail.starts_with(":=")) set(name, value);
  return value;
}

/// NAME#pattern and NAME%pattern without the least that it matches at that end, ## and %% without the most: of patterns
/// a text, and one with an asterisk on its outer side.
ShellWords::Words ShellWords::expand_trimmed(const std::string& name, std::string_view tail) {
  const bool front = tail.front() == '#';
  const bool most = tail.size() > 1 && tail[1] == tail.front();
  auto pattern = tail.substr(most ? 2 : 1);
  const bool any = front ? pattern.starts_with('*') : pattern.ends_with('*');
  if (any) pattern = front ? pattern.substr(1) : pattern.substr(0, pattern.size() - 1);
  Words value = value_of(name);
  if (pattern.empty() || pattern.find_first_of("*?[$`\\\"'") != pattern.npos)
    return unknown("${" + name + std::string(tail) + "}");
  if (value.size() != 1 || !value.front().unknown.empty()) return value;
  std::string& text = value.front().text;
  const bool from_behind = front == most;
  const auto at = !any ? place_of_end(text, pattern, front) : from_behind ? text.rfind(pattern) : text.find(pattern);
  if (at == text.npos) return value;
  text = front ? text.substr(at + pattern.size()) : text.substr(0, at);
  return value;
}

/// NAME:+text: nothing where nobody set it.
ShellWords::Words ShellWords::expand_alternative(const std::string& name, std::string_view text) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return {{"", line_, {}}};
  if (!found->second.unknown.empty()) return unknown(found->second.unknown);
  return found->second.text.empty() ? Words{{"", line_, {}}} : expand_default(text);
}

ShellWords::Cursor ShellWords::enter(std::string_view text) {
  return {std::exchange(text_, text), std::exchange(position_, 0), line_, quoted_list_};
}

void ShellWords::leave(const Cursor& outer) {
  text_ = outer.text;
  position_ = outer.position;
  line_ = outer.line;
  quoted_list_ = outer.quoted_list;
}

ShellWords::Words ShellWords::expand_default(std::string_view text) {
  if (nested_ >= deepest_node) fail("nests its defaults too deeply");
  const std::string quoted = '"' + std::string(text) + '"';
  const Cursor outer = enter(text.find('"') == std::string_view::npos ? std::string_view(quoted) : text);
  ++nested_;
  Words value = read_words(false);
  --nested_;
  leave(outer);
  return value.empty() ? Words{{"", line_, {}}} : value;
}

ShellWord ShellWords::expanded(std::string_view document) {
  const Cursor outer = enter(document);
  ShellWord result{"", line_, {}};
  while (!at_end()) {
    const bool escapes =
        peek() == '\\' && peek(1) != '\0' && std::string_view("\\$`\n").find(peek(1)) != std::string_view::npos;
    if (escapes) next();
    if (escapes || (peek() != '$' && peek() != '`')) {
      result.text += next();
      continue;
    }
    for (const ShellWord& word : expand()) {
      count(word.text.size() + word.unknown.size());
      append(result, word);
    }
  }
  leave(outer);
  return result;
}

}  // namespace llmcalc::dialects
