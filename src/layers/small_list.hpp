// A short list with its room inside: no allocation, because a search builds millions of programs.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>

namespace llmcalc::layers {

template <class T, std::uint8_t capacity>
class SmallList {
 public:
  constexpr SmallList() = default;
  constexpr SmallList(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }

  /// \pre size() < capacity: the callers are the builders of this room, whose lists have fixed lengths
  constexpr void push_back(T item) {
    assert(size_ < capacity);
    items_[size_++] = item;
  }

  constexpr std::uint8_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T operator[](std::uint8_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, capacity> items_{};
  std::uint8_t size_ = 0;
};

}  // namespace llmcalc::layers
