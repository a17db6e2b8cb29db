#include "read/config/expression.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

namespace llmcalc::read {

bool Amount::is_true() const {
  if (kind == Kind::number) return number != 0.0;
  return kind == Kind::word ? !word.empty() : kind == Kind::json && !value->empty();
}

Amount Amount::of(double number) { return {.kind = Kind::number, .number = number, .word = {}, .pointer = {}}; }

Amount Amount::of(std::string word) { return {.kind = Kind::word, .word = std::move(word), .pointer = {}}; }

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

bool Amount::is_same_as(const Amount& other) const {
  if (kind != other.kind) return false;
  if (kind == Kind::number) return number == other.number;
  return kind == Kind::word ? word == other.word : is_absent();
}

bool Amount::is_list() const { return kind == Kind::json && value->is_array(); }

Amount Amount::element(double index) const {
  const auto size = static_cast<double>(value->size());
  const double from_start = index < 0 ? index + size : index;
  if (!(from_start >= 0 && from_start < size)) return {};
  const auto at = static_cast<std::size_t>(from_start);
  return of((*value)[at], pointer.empty() ? "" : pointer + '/' + std::to_string(at));
}

std::int64_t Amount::occurrences(const Amount& wanted) const {
  if (kind == Kind::word && wanted.word.size() == 1) return std::ranges::count(word, wanted.word.front());
  if (kind == Kind::word && wanted.kind == Kind::number) {  // "4,5,6" (Step 3, moe_layers_enum)
    return std::ranges::count(quantity::pieces_of(word, ","), fmt::format("{}", wanted.number));
  }
  if (!is_list()) return 0;
  return std::ranges::count_if(*value, [&](const auto& one) { return of(one, {}).is_same_as(wanted); });
}

namespace {

constexpr bool begins_name(char c) { return quantity::is_name_char(c) && !quantity::is_digit(c); }
constexpr bool goes_on(char c) { return quantity::is_name_char(c) || c == '.'; }

/// The text of an expression, read sign by sign.
class ExpressionText {
 public:
  /// \param place  of the expression, for messages
  ExpressionText(std::string_view text, std::string_view place) : text_(text), place_(place) {}

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

  void expect_end() {
    skip_space();
    if (at_ != text_.size()) fail("goes on where it should end");
  }

  /// "attn_config.kv_n_heads"; empty when none stands there.
  std::string_view take_name() {
    skip_space();
    const std::size_t first = at_;
    if (at_ < text_.size() && begins_name(text_[at_])) {
      while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
    }
    return text_.substr(first, at_ - first);
  }

  /// A word whose opening quote was taken.
  std::string_view take_until_quote() {
    const auto end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("lacks a closing quote");
    const auto inner = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inner;
  }

  bool is_at_digit() {
    skip_space();
    return at_ < text_.size() && quantity::is_digit(text_[at_]);
  }

  /// \pre is_at_digit()
  double take_number() {
    double number = 0.0;
    const char* first = text_.data() + at_;
    const auto end = std::from_chars(first, text_.data() + text_.size(), number).ptr;
    at_ += static_cast<std::size_t>(end - first);
    return number;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw quantity::BadInput(std::string(place_), fmt::format("the expression '{}' {}", text_, problem),
                             fmt::format("at its character {}", at_ + 1));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
};

struct Operator {
  std::string_view sign;
  double (*apply)(double a, double b);
};
constexpr std::array sums{
    Operator{"+", [](double a, double b) { return a + b; }},
    Operator{"-", [](double a, double b) { return a - b; }},
};
constexpr std::array products{
    Operator{"*", [](double a, double b) { return a * b; }},
    Operator{"//", [](double a, double b) { return std::floor(a / b); }},
    Operator{"/", [](double a, double b) { return a / b; }},
    Operator{"%", [](double a, double b) { return a - b * std::floor(a / b); }},
};

/// Reads and computes in one pass; parts that a condition rules out are read without being computed.
class Evaluation {
 public:
  Evaluation(std::string_view text, Names& names, std::string_view place) : text_(text, place), names_(names) {}

  Amount whole() {
    Amount result = choice();
    text_.expect_end();
    return result;
  }

 private:
  Amount choice() {
    Amount condition = alternatives();
    if (!text_.take("?")) return condition;
    const bool holds = condition.is_true();
    Amount yes = computed_if(holds, &Evaluation::choice);
    text_.expect(":");
    Amount no = computed_if(!holds, &Evaluation::choice);
    return holds ? yes : no;
  }

  Amount alternatives() {
    Amount first = either();
    while (text_.take("??")) {
      Amount next = computed_if(first.is_absent(), &Evaluation::either);
      if (first.is_absent()) first = std::move(next);
    }
    return first;
  }

  Amount either() {
    Amount left = both();
    while (text_.take("||")) {
      const bool holds = left.is_true();
      const Amount right = computed_if(!holds, &Evaluation::both);
      left = truth(holds || right.is_true());
    }
    return left;
  }

  Amount both() {
    Amount left = comparison();
    while (text_.take("&&")) {
      const bool holds = left.is_true();
      const Amount right = computed_if(holds, &Evaluation::comparison);
      left = truth(holds && right.is_true());
    }
    return left;
  }

  Amount comparison() {
    Amount left = sum();
    constexpr std::string_view signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    const auto* sign = quantity::find_if_or_null(signs, [&](std::string_view each) { return text_.take(each); });
    return sign == nullptr ? left : compared(left, *sign, sum());
  }

  Amount compared(const Amount& left, std::string_view sign, const Amount& right) {
    if (sign == "==") return truth(left.is_same_as(right));
    if (sign == "!=") return truth(!left.is_same_as(right));
    if (left.is_absent() || right.is_absent()) return truth(false);
    const double a = number(left);
    const double b = number(right);
    if (sign == "<") return truth(a < b);
    if (sign == ">") return truth(a > b);
    return truth(sign == "<=" ? a <= b : a >= b);
  }

  /// Operands with operators of one rank between them, from the left on.
  Amount chain(std::span<const Operator> operators, Amount (Evaluation::*operand)()) {
    Amount left = (this->*operand)();
    for (;;) {
      const auto* next = quantity::find_if_or_null(operators, [&](const auto& each) { return text_.take(each.sign); });
      if (next == nullptr) return left;
      left = computed(left, (this->*operand)(), next->apply);
    }
  }

  Amount sum() { return chain(sums, &Evaluation::product); }
  Amount product() { return chain(products, &Evaluation::factor); }

  Amount factor() {
    constexpr int deepest = 200;
    if (++depth_ > deepest) text_.fail("is nested too deeply");
    Amount value = factor_within();
    --depth_;
    return value;
  }

  Amount factor_within() {
    if (text_.take("!")) return truth(!factor().is_true());
    if (text_.take("-")) return computed(Amount::of(0.0), factor(), [](double a, double b) { return a - b; });
    Amount value = primary();
    for (;;) {
      if (text_.take(".")) {
        value = member(std::move(value), text_.take_name());
      } else if (text_.take("[")) {
        const Amount index = choice();
        text_.expect("]");
        value = item(value, index);
      } else {
        return value;
      }
    }
  }

  Amount primary() {
    if (text_.take("(")) {
      Amount inner = choice();
      text_.expect(")");
      return inner;
    }
    if (text_.take("'")) return Amount::of(std::string(text_.take_until_quote()));
    if (text_.take("$")) {
      const std::string_view name = text_.take_name();
      return skipping_ ? Amount{} : names_.field(name);
    }
    if (text_.is_at_digit()) return Amount::of(text_.take_number());
    const std::string_view name = text_.take_name();
    if (name.empty()) text_.fail("lacks a value");
    if (text_.take("(")) return call(name);
    if (name == "true" || name == "false") return truth(name == "true");
    if (name == "layer") return Amount::of(static_cast<double>(names_.layer()));
    return skipping_ ? Amount{} : names_.key(name);
  }

  /// A function of one to three values; is_null() and own() look at the key that they are given.
  Amount call(std::string_view name) {
    if (name == "is_null" || name == "own") {
      const std::string_view key = text_.take_name();
      text_.expect(")");
      if (name == "own") return skipping_ ? Amount{} : names_.own(key);
      return truth(!skipping_ && names_.is_null(key));
    }
    std::vector<Amount> given;
    do {
      given.push_back(choice());
    } while (text_.take(","));
    text_.expect(")");
    return skipping_ ? Amount{} : applied(name, given);
  }

  Amount applied(std::string_view name, const std::vector<Amount>& given) {
    if (name == "len")
      return given[0].value == nullptr ? Amount{} : Amount::of(static_cast<double>(given[0].value->size()));
    if (name == "letters")
      return given[0].kind == Amount::Kind::word ? Amount::of(static_cast<double>(given[0].word.size())) : Amount{};
    if (name == "letter" && given.size() == 2) return letter(given[0], given[1]);
    if (name == "has" && given.size() == 2) return truth(given[0].occurrences(given[1]) > 0);
    if (name == "begins" && given.size() == 2) return truth(given[0].word.starts_with(given[1].word));
    if (name == "ends" && given.size() == 2) return truth(given[0].word.ends_with(given[1].word));
    if (name == "count" && given.size() == 2) return Amount::of(static_cast<double>(given[0].occurrences(given[1])));
    if (name == "sum") return summed(given[0]);
    if (std::ranges::any_of(given, &Amount::is_absent)) return {};
    if (name == "floor") return Amount::of(std::floor(number(given[0])));
    if (name == "sqrt") return Amount::of(std::sqrt(number(given[0])));
    if (name == "ceil") return Amount::of(std::ceil(number(given[0])));
    if (name == "min" && given.size() == 2) return Amount::of(std::min(number(given[0]), number(given[1])));
    if (name == "max" && given.size() == 2) return Amount::of(std::max(number(given[0]), number(given[1])));
    text_.fail(fmt::format("calls '{}', which is no function of {} values", name, given.size()));
  }

  /// One of a word, in which each stands for a layer: "MEM*".
  Amount letter(const Amount& word, const Amount& index) {
    if (word.kind != Amount::Kind::word || index.is_absent()) return {};
    const auto at = static_cast<std::size_t>(std::max(0.0, number(index)));
    return at < word.word.size() ? Amount::of(word.word.substr(at, 1)) : Amount{};
  }

  Amount summed(const Amount& list) {
    if (!list.is_list()) return {};
    const auto amount = [&](const auto& one) { return number(Amount::of(one, list.pointer)); };
    return Amount::of(quantity::sum_of(*list.value, amount));
  }

  /// "attention.no_op" of an object.
  static Amount member(Amount object, std::string_view path) {
    for (const auto step : quantity::pieces_of(path, ".")) {
      const bool holds = object.kind == Amount::Kind::json && object.value->contains(step);
      object =
          holds ? Amount::of(object.value->at(std::string(step)), object.pointer + "/" + std::string(step)) : Amount{};
    }
    return object;
  }

  /// Items of a list; any other value stands for each of them.
  Amount item(const Amount& list, const Amount& index) {
    if (skipping_ || list.is_absent() || index.is_absent()) return {};
    return list.is_list() ? list.element(number(index)) : list;
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
    text_.fail("computes with what is no number");
  }

  ExpressionText text_;
  Names& names_;
  bool skipping_ = false;
  int depth_ = 0;
};

}  // namespace

std::string first_key(std::string_view text) {
  const auto first = static_cast<std::size_t>(std::ranges::find_if(text, begins_name) - text.begin());
  const auto rest = text.substr(first);
  return {rest.begin(), std::ranges::find_if_not(rest, goes_on)};
}

Amount evaluate(std::string_view text, Names& names, std::string_view place) {
  return Evaluation(text, names, place).whole();
}

}  // namespace llmcalc::read
