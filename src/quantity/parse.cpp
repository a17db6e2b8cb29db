#include "quantity/parse.hpp"

#include "quantity/inner/written.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace llmcalc::quantity {

namespace {

constexpr std::array length_units{Unit{"", {}}, Unit{"k", {0, kibi}}, Unit{"ki", {0, kibi}}};
constexpr Kind length{"a length in tokens", "4096 or 8k (k = 1024)", length_units};

constexpr std::array decimal_units{Unit{"", {}},   Unit{"k", {3}}, Unit{"m", {6}},
                                   Unit{"b", {9}}, Unit{"g", {9}}, Unit{"t", {12}}};
constexpr Kind count{"a count", "32, 1_000 or 1e3", decimal_units};
constexpr Kind parameter_count{"a number of parameters", "1e9, 7b or 350M", decimal_units};
constexpr Kind token_count{"a number of tokens", "15T, 300B, or 20x for 20 tokens a parameter", decimal_units};
constexpr Kind plain_number{"a number", "2.5, 1e3 or 300B", decimal_units};

constexpr std::array byte_units{Unit{"", {}},           Unit{"b", {}},
                                Unit{"kb", {3}},        Unit{"mb", {6}},
                                Unit{"gb", {9}},        Unit{"tb", {12}},
                                Unit{"k", {0, kibi}},   Unit{"m", {0, mebi}},
                                Unit{"g", {0, gibi}},   Unit{"t", {0, gibi* kibi}},
                                Unit{"kib", {0, kibi}}, Unit{"mib", {0, mebi}},
                                Unit{"gib", {0, gibi}}, Unit{"tib", {0, gibi* kibi}}};
constexpr Kind byte_count{"an amount of memory", "80GiB, 80GB or 24G (= GiB)", byte_units};

constexpr std::array share_units{Unit{"", {}}, Unit{"%", {-2}}};
constexpr Kind share{"a share between 0 and 1", "0.4 or 40%", share_units};

constexpr Kind real_number{"a number", "-3.14159265, 1e-8, inf or nan", decimal_units};

/// "Gb" and "Mb" are gigabits and megabits to some; "gb" and "GB" are bytes to all.
bool looks_like_bits(std::string_view text) {
  return text.size() > 1 && text.back() == 'b' && text[text.size() - 2] >= 'A' && text[text.size() - 2] <= 'Z';
}

}  // namespace

std::int64_t parse_length(std::string_view text, std::string_view place) { return read_whole(text, place, length); }

std::int64_t parse_count(std::string_view text, std::string_view place) { return read_whole(text, place, count); }

Parameters parse_parameters(std::string_view text, std::string_view place) {
  const auto value = read_whole(text, place, parameter_count);
  if (value == 0) refuse(text, place, parameter_count, "a model has at least one");
  return parameters(value);
}

std::variant<Tokens, TokensPerParameter> parse_tokens(std::string_view text, std::string_view place) {
  std::string_view number = trim(text);
  const bool is_ratio = number.ends_with('x') || number.ends_with('X');
  if (is_ratio) number.remove_suffix(1);
  const double value = read_real(number, place, token_count);
  if (value == 0.0) refuse(text, place, token_count, "a run needs more than none");
  if (is_ratio) return TokensPerParameter{value};
  return tokens(value);
}

Bytes parse_bytes(std::string_view text, std::string_view place) {
  if (looks_like_bits(trim(text))) refuse(text, place, byte_count, "a small b after a capital reads as bits");
  return bytes(read_whole(text, place, byte_count, Fraction::rounded));
}

Bytes parse_capacity(std::string_view text, std::string_view place) {
  const Bytes size = parse_bytes(text, place);
  if (size < mib(1)) refuse(text, place, byte_count, "no device has so little; a unit may be missing");
  return size;
}

double parse_share(std::string_view text, std::string_view place) {
  const double value = read_real(text, place, share);
  if (value > 1.0) refuse(text, place, share, "it is more than the whole");
  return value;
}

double parse_number(std::string_view text, std::string_view place) { return read_real(text, place, plain_number); }

double parse_real(std::string_view text, std::string_view place) {
  std::string_view magnitude = trim(text);
  const bool negative = magnitude.starts_with('-');
  if (negative || magnitude.starts_with('+')) magnitude.remove_prefix(1);
  const std::string word = to_lower(magnitude);
  double value = 0.0;
  if (word == "inf" || word == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    value = read_real(magnitude, place, real_number);
  }
  return negative ? -value : value;
}

bool parse_bool(std::string_view text, std::string_view place) {
  static constexpr std::array<std::string_view, 4> yes{"1", "true", "yes", "on"};
  static constexpr std::array<std::string_view, 4> no{"0", "false", "no", "off"};
  const std::string word = to_lower(trim(text));
  if (contains(yes, word)) return true;
  if (contains(no, word)) return false;
  refuse(text, place, Kind{"yes or no", "1, true, yes, on or 0, false, no, off", {}}, "no such word");
}

}  // namespace llmcalc::quantity
