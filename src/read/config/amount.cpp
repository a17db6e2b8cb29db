#include "read/config/amount.hpp"

#include "quantity/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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

}  // namespace llmcalc::read
