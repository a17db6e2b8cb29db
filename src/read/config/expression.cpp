#include "read/config/expression.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace llmcalc::read {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool goes_on(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; }

/// Reads and computes in one pass; parts that a condition rules out are read without being computed.
class Evaluation {
 public:
  Evaluation(std::string_view text, Names& names, std::string_view place) : text_(text), names_(names), place_(place) {}

  Amount whole() {
    Amount result = choice();
    skip_space();
    if (at_ != text_.size()) fail("goes on where it should end");
    return result;
  }

 private:
  Amount choice() {
    Amount condition = alternatives();
    if (!take("?")) return condition;
    const bool holds = condition.is_true();
    Amount yes = computed_if(holds, &Evaluation::choice);
    expect(":");
    Amount no = computed_if(!holds, &Evaluation::choice);
    return holds ? yes : no;
  }

  Amount alternatives() {
    Amount first = either();
    while (take("??")) {
      Amount next = computed_if(first.is_absent(), &Evaluation::either);
      if (first.is_absent()) first = std::move(next);
    }
    return first;
  }

  Amount either() {
    Amount left = both();
    while (take("||")) {
      const bool holds = left.is_true();
      const Amount right = computed_if(!holds, &Evaluation::both);
      left = truth(holds || right.is_true());
    }
    return left;
  }

  Amount both() {
    Amount left = comparison();
    while (take("&&")) {
      const bool holds = left.is_true();
      const Amount right = computed_if(holds, &Evaluation::comparison);
      left = truth(holds && right.is_true());
    }
    return left;
  }

  Amount comparison() {
    Amount left = sum();
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!take(sign)) continue;
      return compared(left, sign, sum());
    }
    return left;
  }

  Amount compared(const Amount& left, std::string_view sign, const Amount& right) {
    if (sign == "==") return truth(same(left, right));
    if (sign == "!=") return truth(!same(left, right));
    if (left.is_absent() || right.is_absent()) return truth(false);
    const double a = number(left);
    const double b = number(right);
    if (sign == "<") return truth(a < b);
    if (sign == ">") return truth(a > b);
    return truth(sign == "<=" ? a <= b : a >= b);
  }

  Amount sum() {
    Amount left = product();
    for (;;) {
      if (take("+")) {
        left = computed(left, product(), [](double a, double b) { return a + b; });
      } else if (take("-")) {
        left = computed(left, product(), [](double a, double b) { return a - b; });
      } else {
        return left;
      }
    }
  }

  Amount product() {
    Amount left = factor();
    for (;;) {
      if (take("*")) {
        left = computed(left, factor(), [](double a, double b) { return a * b; });
      } else if (take("//")) {
        left = computed(left, factor(), [](double a, double b) { return std::floor(a / b); });
      } else if (take("/")) {
        left = computed(left, factor(), [](double a, double b) { return a / b; });
      } else if (take("%")) {
        left = computed(left, factor(), [](double a, double b) { return a - b * std::floor(a / b); });
      } else {
        return left;
      }
    }
  }

  Amount factor() {
    constexpr int deepest = 200;
    if (++depth_ > deepest) fail("is nested too deeply");
    Amount value = factor_within();
    --depth_;
    return value;
  }

  Amount factor_within() {
    if (take("!")) return truth(!factor().is_true());
    if (take("-")) return computed(Amount::of(0.0), factor(), [](double a, double b) { return a - b; });
    Amount value = primary();
    while (take("[")) {
      const Amount index = choice();
      expect("]");
      value = item(value, index);
    }
    return value;
  }

  Amount primary() {
    skip_space();
    if (take("(")) {
      Amount inner = choice();
      expect(")");
      return inner;
    }
    if (take("'")) return Amount::of(std::string(until_quote()));
    if (take("$")) {
      const std::string_view name = word();
      return skipping_ ? Amount{} : names_.field(name);
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return literal();
    const std::string_view name = word();
    if (name.empty()) fail("lacks a value");
    if (take("(")) return call(name);
    if (name == "true" || name == "false") return truth(name == "true");
    if (name == "layer") return Amount::of(static_cast<double>(names_.layer()));
    return skipping_ ? Amount{} : names_.key(name);
  }

  /// A function of one to three values; is_null() and own() look at the key that they are given.
  Amount call(std::string_view name) {
    if (name == "is_null" || name == "own") {
      skip_space();
      const std::string_view key = word();
      expect(")");
      if (name == "own") return skipping_ ? Amount{} : names_.own(key);
      return truth(!skipping_ && names_.is_null(key));
    }
    std::vector<Amount> given;
    do {
      given.push_back(choice());
    } while (take(","));
    expect(")");
    return skipping_ ? Amount{} : applied(name, given);
  }

  Amount applied(std::string_view name, const std::vector<Amount>& given) {
    if (name == "len")
      return given[0].value == nullptr ? Amount{} : Amount::of(static_cast<double>(given[0].value->size()));
    if (name == "has" && given.size() == 2) return truth(holds(given[0], given[1]));
    if (name == "begins" && given.size() == 2) return truth(given[0].word.starts_with(given[1].word));
    if (name == "ends" && given.size() == 2) return truth(given[0].word.ends_with(given[1].word));
    if (name == "count" && given.size() == 2) return Amount::of(static_cast<double>(occurrences(given[0], given[1])));
    if (name == "sum") return summed(given[0]);
    if (std::ranges::any_of(given, &Amount::is_absent)) return {};
    if (name == "floor") return Amount::of(std::floor(number(given[0])));
    if (name == "sqrt") return Amount::of(std::sqrt(number(given[0])));
    if (name == "ceil") return Amount::of(std::ceil(number(given[0])));
    if (name == "min" && given.size() == 2) return Amount::of(std::min(number(given[0]), number(given[1])));
    if (name == "max" && given.size() == 2) return Amount::of(std::max(number(given[0]), number(given[1])));
    fail(fmt::format("calls '{}', which is no function of {} values", name, given.size()));
  }

  Amount summed(const Amount& list) {
    if (list.value == nullptr || !list.value->is_array()) return {};
    double total = 0.0;
    for (const auto& one : *list.value) total += number(Amount::of(one, list.pointer));
    return Amount::of(total);
  }

  bool holds(const Amount& list, const Amount& wanted) { return occurrences(list, wanted) > 0; }

  std::int64_t occurrences(const Amount& list, const Amount& wanted) {
    if (list.value == nullptr || !list.value->is_array()) return 0;
    return std::ranges::count_if(*list.value, [&](const auto& one) { return same(Amount::of(one, {}), wanted); });
  }

  Amount item(const Amount& list, const Amount& index) {
    if (skipping_ || list.is_absent() || index.is_absent()) return {};
    if (list.kind != Amount::Kind::json || !list.value->is_array()) return list;  // one value for all
    const double position = number(index);
    const auto size = static_cast<double>(list.value->size());
    const double from_start = position < 0 ? position + size : position;
    if (!(from_start >= 0 && from_start < size)) return {};
    const auto at = static_cast<std::size_t>(from_start);
    return Amount::of((*list.value)[at], list.pointer.empty() ? "" : list.pointer + '/' + std::to_string(at));
  }

  static bool same(const Amount& a, const Amount& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Amount::Kind::number) return a.number == b.number;
    return a.kind == Amount::Kind::word ? a.word == b.word : a.is_absent();
  }

  template <class Operation>
  Amount computed(const Amount& a, const Amount& b, Operation operation) {
    if (skipping_ || a.is_absent() || b.is_absent()) return {};
    return Amount::of(operation(number(a), number(b)));
  }

  Amount computed_if(bool wanted, Amount (Evaluation::*part)()) {
    const bool before = skipping_;
    skipping_ = skipping_ || !wanted;
    Amount result = (this->*part)();
    skipping_ = before;
    return wanted ? result : Amount{};
  }

  static Amount truth(bool holds) { return Amount::of(holds ? 1.0 : 0.0); }

  double number(const Amount& amount) {
    if (amount.kind == Amount::Kind::number) return amount.number;
    if (!amount.pointer.empty()) {
      throw quantity::BadInput(names_.place_of(amount.pointer),
                               fmt::format("expected a number, not {}", amount.value->dump()));
    }
    fail("computes with what is no number");
  }

  Amount literal() {
    double number = 0.0;
    const char* first = text_.data() + at_;
    const auto end = std::from_chars(first, text_.data() + text_.size(), number).ptr;
    at_ += static_cast<std::size_t>(end - first);
    return Amount::of(number);
  }

  std::string_view until_quote() {
    const auto end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("lacks a closing quote");
    const auto inner = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inner;
  }

  std::string_view word() {
    const std::size_t first = at_;
    if (at_ < text_.size() && begins_name(text_[at_])) {
      while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
    }
    return text_.substr(first, at_ - first);
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  /// Takes a sign unless a longer one stands there.
  bool take(std::string_view sign) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(sign)) return false;
    const bool longer = (sign == "?" && rest.starts_with("??")) || (sign == "/" && rest.starts_with("//")) ||
                        (sign == "!" && rest.starts_with("!="));
    if (longer) return false;
    at_ += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) fail(fmt::format("lacks '{}'", sign));
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw quantity::BadInput(std::string(place_), fmt::format("the expression '{}' {}", text_, problem),
                             fmt::format("at its character {}", at_ + 1));
  }

  std::string_view text_;
  Names& names_;
  std::string_view place_;
  std::size_t at_ = 0;
  bool skipping_ = false;
  int depth_ = 0;
};

}  // namespace

bool Amount::is_true() const {
  if (kind == Kind::number) return number != 0.0;
  return kind == Kind::word ? !word.empty() : kind == Kind::json && !value->empty();
}

Amount Amount::of(double number) {
  Amount amount;
  amount.kind = Kind::number;
  amount.number = number;
  return amount;
}

Amount Amount::of(std::string word) {
  Amount amount;
  amount.kind = Kind::word;
  amount.word = std::move(word);
  return amount;
}

Amount Amount::of(const nlohmann::json& value, std::string pointer) {
  Amount amount;
  if (value.is_null()) return amount;
  if (value.is_boolean()) {
    amount = of(value.get<bool>() ? 1.0 : 0.0);
  } else if (value.is_number()) {
    amount = of(value.get<double>());
  } else if (value.is_string()) {
    amount = of(value.get<std::string>());
  } else {
    amount.kind = Kind::json;
  }
  amount.value = &value;
  amount.pointer = std::move(pointer);
  return amount;
}

Amount evaluate(std::string_view text, Names& names, std::string_view place) {
  return Evaluation(text, names, place).whole();
}

std::string first_key(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && !begins_name(text[at])) ++at;
  std::size_t end = at;
  while (end < text.size() && goes_on(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

}  // namespace llmcalc::read
