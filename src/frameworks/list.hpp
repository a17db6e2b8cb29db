// A list of fixed room in a row of a table, known when the program is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

namespace llmcalc::frameworks {

template <class T, std::size_t room = 8>
class List {
 public:
  constexpr List() = default;
  /// More items than there is room for do not compile in a constant expression.
  constexpr List(std::initializer_list<T> items) {
    for (const T& item : items) items_.at(size_++) = item;
  }

  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr std::size_t size() const { return size_; }
  constexpr const T& front() const { return items_.front(); }
  constexpr std::span<const T> span() const { return {items_.data(), size_}; }
  constexpr bool has(const T& item) const {
    return std::any_of(begin(), end(), [&](const T& mine) { return mine == item; });
  }

 private:
  std::array<T, room> items_{};
  std::size_t size_ = 0;
};

}  // namespace llmcalc::frameworks
