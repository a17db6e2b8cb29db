// $(( ... )) and expr: + - * / % and parentheses over integers and variables.
#include "dialects/shell/shell.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>

namespace llmcalc::dialects {
namespace {

/// Variables that each hold two others double the work with every level: beyond this an expression is not known.
constexpr int most_steps = 1'000;

class Arithmetic {
 public:
  /// \param steps  how many values may still be looked up, shared with the expressions that variables hold
  Arithmetic(std::string_view text, const std::map<std::string, ShellWord>& variables, int depth, int& steps)
      : text_(text), variables_(variables), depth_(depth), steps_(steps) {}

  ShellInteger value() {
    const long long result = sum();
    skip_blanks();
    return {known_ && text_.empty(), result};
  }

 private:
  static constexpr int deepest = 32;

  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) text_.remove_prefix(1);
  }

  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  long long combine(long long a, char operation, long long b) {
    try {
      if (operation == '+') return quantity::checked_add(a, b);
      if (operation == '-') return quantity::checked_subtract(a, b);
      if (operation == '*') return quantity::checked_multiply(a, b);
    } catch (const quantity::Overflow&) {
      known_ = false;
      return 0;
    }
    if (b == 0 || b == -1) {  // the only divisors that an integer of the machine does not survive
      known_ = known_ && b == -1 && operation == '%';
      return 0;
    }
    return operation == '/' ? a / b : a % b;
  }

  long long sum() {
    long long value = product();
    while (known_) {
      const char operation = take('+') ? '+' : take('-') ? '-' : '\0';
      if (operation == '\0') return value;
      value = combine(value, operation, product());
    }
    return value;
  }

  long long product() {
    long long value = factor();
    while (known_) {
      const char operation = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : '\0';
      if (operation == '\0') return value;
      value = combine(value, operation, factor());
    }
    return value;
  }

  long long factor() {
    if (++depth_ > deepest || --steps_ < 0) known_ = false;
    if (!known_) return 0;
    if (take('-')) return combine(0, '-', factor());
    if (take('(')) {
      const long long value = sum();
      known_ = take(')') && known_;
      --depth_;
      return value;
    }
    const long long value = atom();
    --depth_;
    return value;
  }

  /// A number, or a variable with or without its dollar and braces.
  long long atom() {
    const bool dollar = take('$');
    const bool brace = dollar && take('{');
    skip_blanks();
    std::size_t end = 0;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const auto name = text_.substr(0, end);
    text_.remove_prefix(end);
    if (brace) known_ = take('}') && known_;
    if (const auto variable = variables_.find(std::string(name)); variable != variables_.end()) {
      const auto inner = Arithmetic(variable->second.text, variables_, depth_, steps_).value();
      known_ = known_ && inner.known && variable->second.unknown.empty();
      return inner.value;
    }
    long long value = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), value);
    known_ = known_ && !name.empty() && read.ec == std::errc() && read.ptr == name.data() + name.size();
    return value;
  }

  std::string_view text_;
  const std::map<std::string, ShellWord>& variables_;
  int depth_;
  int& steps_;
  bool known_ = true;
};

}  // namespace

ShellInteger shell_arithmetic(std::string_view expression, const std::map<std::string, ShellWord>& variables) {
  int steps = most_steps;
  return Arithmetic(expression, variables, 0, steps).value();
}

}  // namespace llmcalc::dialects
