// What is asked of lists and tables everywhere, each in a word.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace llmcalc::quantity {

template <class Range, class Value, class Projection = std::identity>
constexpr bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

/// The first row with that key, or nullptr.
template <class Range, class Key, class Projection>
constexpr auto find_or_null(Range&& rows, const Key& key, Projection projection) {
  const auto found = std::ranges::find(rows, key, projection);
  return found == std::ranges::end(rows) ? nullptr : &*found;
}

/// The first element of which `holds` is true, or nullptr.
template <class Range, class Holds>
constexpr auto find_if_or_null(Range&& range, Holds holds) {
  const auto found = std::ranges::find_if(range, holds);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

/// The last one, or nullptr: of what users add, that which overrides.
template <class Range, class Holds>
constexpr auto find_last_if_or_null(Range&& range, Holds holds) {
  const auto found = std::find_if(std::ranges::rbegin(range), std::ranges::rend(range), holds);
  return found == std::ranges::rend(range) ? nullptr : &*found;
}

/// Results of `of` for each element of which `holds` is true.
template <class Range, class Of, class Holds>
auto mapped_if(const Range& range, Of of, Holds holds) {
  std::vector<std::decay_t<std::invoke_result_t<Of&, std::ranges::range_reference_t<const Range>>>> list;
  for (const auto& each : range) {
    if (std::invoke(holds, each)) list.push_back(std::invoke(of, each));
  }
  return list;
}

/// Results of `of` for each element.
template <class Range, class Of>
auto mapped(const Range& range, Of of) {
  return mapped_if(range, std::move(of), [](const auto&) { return true; });
}

/// The sum of what `of` makes of each element.
template <class Range, class Of>
constexpr auto sum_of(const Range& range, Of of) {
  std::decay_t<std::invoke_result_t<Of&, std::ranges::range_reference_t<const Range>>> sum{};
  for (const auto& each : range) sum += std::invoke(of, each);
  return sum;
}

template <class T, class Range>
void append(std::vector<T>& list, const Range& more) {
  list.insert(list.end(), std::ranges::begin(more), std::ranges::end(more));
}

/// The texts of a list, or those that `of` makes of its elements, one behind the other.
template <class Range, class Of = std::identity>
std::string joined(const Range& list, std::string_view between, Of of = {}) {
  std::string all;
  bool first = true;
  for (const auto& each : list) {
    all.append(std::exchange(first, false) ? std::string_view() : between).append(std::invoke(of, each));
  }
  return all;
}

}  // namespace llmcalc::quantity
