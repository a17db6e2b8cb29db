
#include "dialects/shell/shell_reader.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <cctype>

namespace llmcalc::dialects {
namespace {

std::optional<long long> integer(std::string_view text) {
  const auto value = quantity::take_number<long long>(text);
  return text.empty() ? value : std::nullopt;
}

/// An integer expression, read sign by sign; a variable stands for the number that it holds.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const std::map<std::string, ShellWord>& variables)
      : text_(text), variables_(variables) {}

  ShellInteger value() {
    const long long result = sum();
    return {known_ && quantity::trim(text_).empty(), result};
  }

 private:
  static constexpr int deepest = 32;

  /// The sign that comes next, if it is one of these; else none.
  char take(std::string_view signs) {
    text_ = quantity::trim(text_);
    if (text_.empty() || signs.find(text_.front()) == std::string_view::npos) return '\0';
    const char sign = text_.front();
    text_.remove_prefix(1);
    return sign;
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

  /// Operands with signs of one rank between them, from the left on.
  long long chain(std::string_view signs, long long (Arithmetic::*operand)()) {
    long long value = (this->*operand)();
    for (char sign = take(signs); sign != '\0' && known_; sign = take(signs)) {
      value = combine(value, sign, (this->*operand)());
    }
    return value;
  }

  long long sum() { return chain("+-", &Arithmetic::product); }
  long long product() { return chain("*/%", &Arithmetic::factor); }

  long long factor() {
    if (++depth_ > deepest) known_ = false;
    if (!known_) return 0;
    long long value = 0;
    if (take("-") != '\0') {
      value = combine(0, '-', factor());
    } else if (take("(") != '\0') {
      value = sum();
      known_ = take(")") != '\0' && known_;
    } else {
      value = atom();
    }
    --depth_;
    return value;
  }

  /// A number, or a variable with or without its dollar and braces.
  long long atom() {
    const bool brace = take("$") != '\0' && take("{") != '\0';
    text_ = quantity::trim(text_);
    const auto end = std::ranges::find_if_not(text_, is_name_char) - text_.begin();
    std::string_view name = text_.substr(0, static_cast<std::size_t>(end));
    text_.remove_prefix(name.size());
    if (brace) known_ = take("}") != '\0' && known_;
    if (const auto variable = variables_.find(std::string(name)); variable != variables_.end()) {
      known_ = known_ && variable->second.unknown.empty();
      name = variable->second.text;
    }
    const auto value = integer(quantity::trim(name));
    known_ = known_ && value;
    return value.value_or(0);
  }

  std::string_view text_;
  const std::map<std::string, ShellWord>& variables_;
  int depth_ = 0;
  bool known_ = true;
};

/// The text of an operand; nothing where it hangs on something else than a variable that nobody set.
std::optional<std::string_view> known(const ShellWord& word) {
  const bool name = std::ranges::all_of(word.unknown, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const bool empty = word.text.empty() && name;
  return word.unknown.empty() || empty ? std::optional<std::string_view>(word.text) : std::nullopt;
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

/// The words between the brackets. An empty variable without quotes leaves no word.
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

ShellInteger shell_arithmetic(std::string_view expression, const std::map<std::string, ShellWord>& variables) {
  return Arithmetic(expression, variables).value();
}

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

void ShellBranches::enter() { open_.back().now = Reach::runs; }

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

void Shell::enter_loop() {
  if (words_.size() < 4 || words_[0].text != "for" || words_[2].text != "in" || !words_[3].unknown.empty()) return;
  assign(words_[1].text, {words_[3]});
  branches_.enter();
}

void Shell::leave_loop() {
  if (loops_ > 0) --loops_;
  if (loops_ > 0) return;
  for (const std::string& name : std::exchange(changing_, {}))
    set(name, {{"", line(), name + ", which is set under a condition"}});
}

void Shell::read_fields() {
  const auto text = std::exchange(fed_, std::nullopt);
  if (!text || words_.empty() || words_.front().text != "read") return;
  constexpr std::string_view blanks = " \t\n";
  std::string_view between = blanks;
  for (const auto& [name, value] : pending_) {
    if (name == "IFS" && !value.empty() && !value.front().text.empty()) between = value.front().text;
  }
  std::string_view rest = text->text;
  for (std::size_t at = 1; at < words_.size(); ++at) {
    const std::string& name = words_[at].text;
    if (name.starts_with('-') && name.find('a') != std::string::npos) return;  // into an array
    if (name.starts_with('-')) continue;
    if (between == blanks) rest = quantity::trim(rest);
    const bool last = at + 1 == words_.size();
    const auto end = last ? rest.size() : std::min(rest.find_first_of(between), rest.size());
    assign(name, {{std::string(rest.substr(0, end)), line(), text->unknown}});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void Shell::assign(const std::string& name, Words value) {
  if (loops_ > 0) changing_.push_back(name);
  set(name, std::move(value));
}

}  // namespace llmcalc::dialects
