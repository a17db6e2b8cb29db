// What a dollar sign and backticks stand for.
#include "dialects/core/names.hpp"
#include "dialects/shell/shell_words.hpp"
#include "quantity/text.hpp"
#include "read/node.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::dialects {

/// What stands between the bracket at hand and the one that closes it.
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

/// Of all commands only `expr` of integers.
ShellWords::Words ShellWords::expand_command() {
  const std::string inner = bracketed('(', ')');
  constexpr std::string_view expr = "expr ";
  std::string expression = inner;
  std::erase(expression, '\\');
  if (!expression.starts_with(expr)) return unknown("$(" + inner + ")");
  const auto value = shell_arithmetic(std::string_view(expression).substr(expr.size()), variables_);
  return value.known ? Words{{std::to_string(value.value), line_, {}}} : unknown("$(" + inner + ")");
}

/// NAME, NAME[@], NAME:-default, NAME-default, NAME:+text.
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
  const bool colon = tail.starts_with(":-") || tail.starts_with(":=");
  if (!colon && !tail.starts_with('-')) return unknown("${" + inner + "}");
  const auto found = variables_.find(name);
  const bool is_set = found != variables_.end();
  const bool says = is_set && !(colon && found->second.text.empty() && found->second.unknown.empty());
  return says ? value_of(name) : expand_default(tail.substr(colon ? 2 : 1));
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

std::string ShellWords::expanded(std::string_view document) {
  const Cursor outer = enter(document);
  std::string result;
  while (!at_end()) {
    const bool escapes =
        peek() == '\\' && peek(1) != '\0' && std::string_view("\\$`\n").find(peek(1)) != std::string_view::npos;
    if (escapes) next();
    if (escapes || (peek() != '$' && peek() != '`')) {
      result += next();
      continue;
    }
    for (const ShellWord& word : expand()) {
      count(word.text.size() + word.unknown.size());
      result.append(word.unknown.empty() ? "" : "$").append(word.unknown).append(word.text);
    }
  }
  leave(outer);
  return result;
}

}  // namespace llmcalc::dialects
