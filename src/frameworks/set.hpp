// A set of values of an enumeration, known when the program is compiled.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace llmcalc::frameworks {

template <class E>
class Set {
 public:
  constexpr Set() = default;
  constexpr Set(std::initializer_list<E> values) {
    for (const E value : values) bits_ |= bit(value);
  }

  constexpr bool has(E value) const { return (bits_ & bit(value)) != 0; }
  constexpr Set with(Set more) const { return Set(bits_ | more.bits_); }
  constexpr Set without(Set fewer) const { return Set(bits_ & ~fewer.bits_); }

 private:
  constexpr explicit Set(std::uint64_t bits) : bits_(bits) {}
  /// \pre the enumeration has at most 64 values
  static constexpr std::uint64_t bit(E value) { return std::uint64_t{1} << static_cast<unsigned>(value); }

  std::uint64_t bits_ = 0;
};

}  // namespace llmcalc::frameworks
