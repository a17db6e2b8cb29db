#include "read/config/expression_text.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace llmcalc::read {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool goes_on(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

}  // namespace

bool ExpressionText::take(std::string_view sign) {
  skip_space();
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with(sign)) return false;
  const bool longer = (sign == "?" && rest.starts_with("??")) || (sign == "/" && rest.starts_with("//")) ||
                      (sign == "!" && rest.starts_with("!="));
  if (longer) return false;
  at_ += sign.size();
  return true;
}

void ExpressionText::expect(std::string_view sign) {
  if (!take(sign)) fail(fmt::format("lacks '{}'", sign));
}

void ExpressionText::expect_end() {
  skip_space();
  if (at_ != text_.size()) fail("goes on where it should end");
}

std::string_view ExpressionText::take_name() {
  skip_space();
  const std::size_t first = at_;
  if (at_ < text_.size() && begins_name(text_[at_])) {
    while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
  }
  return text_.substr(first, at_ - first);
}

std::string_view ExpressionText::take_until_quote() {
  const auto end = text_.find('\'', at_);
  if (end == std::string_view::npos) fail("lacks a closing quote");
  const auto inner = text_.substr(at_, end - at_);
  at_ = end + 1;
  return inner;
}

bool ExpressionText::is_at_digit() {
  skip_space();
  return at_ < text_.size() && is_digit(text_[at_]);
}

double ExpressionText::take_number() {
  double number = 0.0;
  const char* first = text_.data() + at_;
  const auto end = std::from_chars(first, text_.data() + text_.size(), number).ptr;
  at_ += static_cast<std::size_t>(end - first);
  return number;
}

void ExpressionText::skip_space() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
}

void ExpressionText::fail(const std::string& problem) const {
  throw quantity::BadInput(std::string(place_), fmt::format("the expression '{}' {}", text_, problem),
                           fmt::format("at its character {}", at_ + 1));
}

std::string first_key(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && !begins_name(text[at])) ++at;
  std::size_t end = at;
  while (end < text.size() && goes_on(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

}  // namespace llmcalc::read
