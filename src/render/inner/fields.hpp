// What a described value is made of. A struct is described once, by a function that says of each of its members key,
// value and meaning: the JSON answers are one walk of it, their schema and docs/json.md others
// (tests/tools/answer_pages.cpp).
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "spec/names.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace llmcalc::render {

/// Text that does not apply where it is empty.
struct Text {
  std::string_view value;
};

/// One of a closed list of words.
struct OneOf {
  std::string_view value;
  std::span<const std::string_view> words;
  bool nullable = false;  ///< does not apply where it is empty
};

/// An enumeration that other rooms have words for, blanks in them written as underscores.
template <class E>
struct Word {
  E value;
  E last;
  std::string_view (*name)(E);
};

/// A number that may be below 0, as few may.
template <class T>
struct Signed {
  T value;
};

/// A measured or predicted number, which is whole where it counts bytes.
struct Measured {
  double value;
  bool whole;
};

/// A member whose key is data.
template <class T>
struct Keyed {
  std::string_view key;
  T value;
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_word = false;
template <class E>
inline constexpr bool is_word<Word<E>> = true;

template <class T>
inline constexpr bool is_signed = false;
template <class T>
inline constexpr bool is_signed<Signed<T>> = true;

template <class T>
inline constexpr bool is_keyed = false;
template <class T>
inline constexpr bool is_keyed<Keyed<T>> = true;

/// Numbers, texts and words as JSON has them, quantities in the unit that their key names.
constexpr bool plain(bool value) { return value; }
constexpr std::int64_t plain(std::integral auto value) { return static_cast<std::int64_t>(value); }
constexpr double plain(double value) { return value; }
constexpr std::string_view plain(std::string_view value) { return value; }
constexpr std::string_view plain(const char* value) { return value; }
constexpr std::int64_t plain(quantity::Bytes value) { return quantity::in_bytes(value); }
constexpr std::int64_t plain(quantity::Parameters value) { return quantity::in_parameters(value); }
constexpr double plain(quantity::Tokens value) { return quantity::in_tokens(value); }
constexpr double plain(quantity::Seconds value) { return quantity::in_seconds(value); }
constexpr double plain(quantity::Money value) { return quantity::in_dollars(value); }
constexpr double plain(quantity::Flops value) { return quantity::in_flops(value); }
constexpr double plain(quantity::FlopRate value) { return quantity::in_flops_per_second(value); }
constexpr double plain(quantity::Bandwidth value) { return quantity::in_bytes_per_second(value); }
constexpr double plain(quantity::BitsPerElement value) { return quantity::in_bits_per_element(value); }
constexpr double plain(quantity::Power value) { return quantity::in_watts(value); }
constexpr double plain(quantity::Energy value) { return quantity::in_kilowatt_hours(value); }
constexpr double plain(quantity::Mass value) { return quantity::in_kilograms(value); }
constexpr double plain(quantity::CarbonIntensity value) { return quantity::in_grams_per_kilowatt_hour(value); }
template <class E>
requires std::is_enum_v<E> std::string_view plain(E value) { return spec::name_of(value); }

template <class T>
concept Plain = requires(const T& value) {
  plain(value);
};

/// The value where it applies.
template <class T>
std::optional<T> where(bool applies, T value) {
  return applies ? std::optional(std::move(value)) : std::nullopt;
}

/// The value that a view shows; in one of nothing, which says what keys there are, an empty value.
template <class T>
const T& or_empty(const T* shown) {
  static const T empty{};
  return shown == nullptr ? empty : *shown;
}

/// An answer that is about one value or a list, with the version of the tool; without any it says what keys there are.
template <class T>
struct Versioned {
  const T* value = nullptr;
  std::string_view version = {};
};

/// Nothing where it is infinite: of a run that never finishes, or between failures that never come.
inline std::optional<double> unless_infinite(double value) { return where(!std::isinf(value), value); }

}  // namespace llmcalc::render
