
#include "dialects/shell/shell.hpp"
#include "dialects/shell/shell_reader.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

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

namespace {

/// The text of an operand; nothing where it hangs on something else than a variable that nobody set.
std::optional<std::string_view> known(const ShellWord& word) {
  const bool name = std::ranges::all_of(word.unknown, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const bool empty = word.text.empty() && name;
  return word.unknown.empty() || empty ? std::optional<std::string_view>(word.text) : std::nullopt;
}

std::optional<long long> integer(std::string_view text) {
  long long value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<bool> negated(std::optional<bool> truth) { return truth ? std::optional(!*truth) : std::nullopt; }

bool is_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

std::optional<bool> compare(std::string_view left, std::string_view sign, std::string_view right) {
  if (sign == "=" || sign == "==" || sign == "!=") {
    if (is_pattern(right)) return std::nullopt;
    return (left == right) == (sign != "!=");
  }
  const auto a = integer(left);
  const auto b = integer(right);
  if (!a || !b) return std::nullopt;
  if (sign == "-eq") return *a == *b;
  if (sign == "-ne") return *a != *b;
  if (sign == "-lt") return *a < *b;
  if (sign == "-le") return *a <= *b;
  if (sign == "-gt") return *a > *b;
  if (sign == "-ge") return *a >= *b;
  return std::nullopt;
}

/// What stands between the brackets. An empty variable without quotes leaves no word.
std::optional<bool> truth_of(std::span<const ShellWord> words) {
  if (words.empty()) return false;
  const auto first = words.front().text;
  if (first == "!") return negated(truth_of(words.subspan(1)));
  if (words.size() == 1 && (first == "-z" || first == "-n")) return first == "-z";
  const auto last = known(words.back());
  if (!last) return std::nullopt;
  if (words.size() == 1) return !last->empty();
  if (words.size() == 2 && first == "-z") return last->empty();
  if (words.size() == 2 && first == "-n") return !last->empty();
  const auto left = known(words.front());
  return words.size() == 3 && left ? compare(*left, words[1].text, *last) : std::nullopt;
}

}  // namespace

bool is_test(std::span<const ShellWord> words) {
  return !words.empty() && (words[0].text == "[" || words[0].text == "[[" || words[0].text == "test");
}

std::optional<bool> truth_of_test(std::span<const ShellWord> words) {
  if (!words.empty() && words.front().text == "!") return negated(truth_of_test(words.subspan(1)));
  if (!is_test(words)) return std::nullopt;
  if (words.front().text == "test") return truth_of(words.subspan(1));
  const bool closed = words.back().text == "]" || words.back().text == "]]";
  return closed && words.size() > 1 ? truth_of(words.subspan(1, words.size() - 2)) : std::nullopt;
}

void ShellBranches::Branch::choose(std::optional<bool> chosen) {
  now = taken || chosen == false ? Reach::never : perhaps || !chosen ? Reach::maybe : Reach::runs;
  taken = taken || chosen == true;
  perhaps = perhaps || !chosen;
}

Reach ShellBranches::reach() const {
  Reach all = Reach::runs;
  for (const Branch& branch : open_) all = std::max(all, branch.now);
  return all;
}

void ShellBranches::open_if() {
  open_.emplace_back();
  open_.back().condition = true;
}

void ShellBranches::open_loop() { open_.push_back({Reach::maybe}); }

void ShellBranches::open_case(ShellWord subject) {
  open_.emplace_back();
  open_.back().subject = std::move(subject);
  open_.back().pattern = true;
}

void ShellBranches::close() {
  if (!open_.empty()) open_.pop_back();
}

bool ShellBranches::in_condition() const { return !open_.empty() && open_.back().condition; }

void ShellBranches::start_condition() {
  if (open_.empty()) return;
  open_.back().condition = true;
  open_.back().truth = {};
  open_.back().now = open_.back().taken ? Reach::never : Reach::runs;
}

void ShellBranches::take_test(std::optional<bool> truth, char joined) {
  auto& before = open_.back().truth;
  const bool decided = joined == '&' ? before == false || truth == false : before == true || truth == true;
  if (joined != '&' && joined != '|') {
    before = truth;
  } else if (decided) {
    before = joined == '|';
  } else {
    before = before && truth ? std::optional(joined == '&') : std::nullopt;
  }
}

void ShellBranches::take_then() {
  if (!in_condition()) return;
  open_.back().condition = false;
  open_.back().choose(open_.back().truth);
}

void ShellBranches::take_else() {
  if (!open_.empty() && !open_.back().subject) open_.back().choose(true);
}

bool ShellBranches::expects_pattern() const { return !open_.empty() && open_.back().pattern; }

void ShellBranches::take_patterns(const std::vector<ShellWord>& patterns) {
  Branch& branch = open_.back();
  branch.pattern = false;
  const auto subject = known(*branch.subject);
  std::optional<bool> matches = false;
  for (const ShellWord& pattern : patterns) {
    const bool open = !subject || !pattern.unknown.empty() || is_pattern(pattern.text);
    if (pattern.text == "*" || (!open && pattern.text == *subject)) matches = true;
    if (open && matches == false) matches = std::nullopt;
  }
  branch.choose(matches);
}

void ShellBranches::end_clause() {
  if (open_.empty() || !open_.back().subject) return;
  open_.back().pattern = true;
  open_.back().now = Reach::runs;
}

}  // namespace llmcalc::dialects
