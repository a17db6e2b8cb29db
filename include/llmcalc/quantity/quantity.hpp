// Numbers with a unit, as types that do not mix.
//
// A quantity is entered and left by naming a unit at the call site: `gib(80)`, `in_gigabytes(weights)`. The raw
// number is private, so that GiB and GB, bytes and bits, FLOPs and FLOP/s cannot be confused silently.
#pragma once

#include "llmcalc/quantity/checked.hpp"

#include <compare>
#include <concepts>
#include <cstdint>

namespace llmcalc::quantity {

struct UnitAccess;

/// \tparam Unit  a tag type that names the dimension
/// \tparam Rep   std::int64_t where the world is exact (sums are checked for overflow), double elsewhere
template <class Unit, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;  // zero means the same in every unit

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    if constexpr (std::integral<Rep>) return Quantity(checked_add(a.value_, b.value_));
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    if constexpr (std::integral<Rep>) return Quantity(checked_subtract(a.value_, b.value_));
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, Rep factor) {
    if constexpr (std::integral<Rep>) return Quantity(checked_multiply(a.value_, factor));
    return Quantity(a.value_ * factor);
  }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return a * factor; }
  /// A fraction of something counted would be cut to a whole number before it multiplies.
  friend constexpr Quantity operator*(Quantity, std::floating_point auto) requires std::integral<Rep>
  = delete;
  friend constexpr Quantity operator*(std::floating_point auto, Quantity) requires std::integral<Rep>
  = delete;

  /// The dimensionless ratio of two quantities of one kind.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) requires std::floating_point<Rep> {
    return Quantity(a.value_ / divisor);
  }

 private:
  friend struct UnitAccess;
  explicit constexpr Quantity(Rep value) : value_(value) {}
  Rep value_{};
};

/// The only door between raw numbers and quantities; used by the unit functions below and nothing else.
struct UnitAccess {
  template <class Q, class Rep>
  static constexpr Q make(Rep value) {
    return Q(value);
  }
  template <class Unit, class Rep>
  static constexpr Rep raw(Quantity<Unit, Rep> q) {
    return q.value_;
  }
};

using Bytes = Quantity<struct ByteUnit, std::int64_t>;
using Parameters = Quantity<struct ParameterUnit, std::int64_t>;
using BitsPerElement = Quantity<struct BitsPerElementUnit, double>;
using Tokens = Quantity<struct TokenUnit, double>;
using Flops = Quantity<struct FlopUnit, double>;
using FlopRate = Quantity<struct FlopRateUnit, double>;
using Seconds = Quantity<struct SecondUnit, double>;
using Bandwidth = Quantity<struct BandwidthUnit, double>;
using Money = Quantity<struct MoneyUnit, double>;

inline constexpr double kilo = 1e3;
inline constexpr double giga = 1e9;
inline constexpr double tera = 1e12;
inline constexpr std::int64_t kibi = std::int64_t{1} << 10;
inline constexpr std::int64_t mebi = std::int64_t{1} << 20;
inline constexpr std::int64_t gibi = std::int64_t{1} << 30;
inline constexpr double seconds_per_hour = 3600.0;
inline constexpr double seconds_per_day = 86400.0;

constexpr Bytes bytes(std::int64_t n) { return UnitAccess::make<Bytes>(n); }
constexpr Bytes kib(std::int64_t n) { return bytes(checked_multiply(n, kibi)); }
constexpr Bytes mib(std::int64_t n) { return bytes(checked_multiply(n, mebi)); }
constexpr Bytes gib(std::int64_t n) { return bytes(checked_multiply(n, gibi)); }
constexpr std::int64_t in_bytes(Bytes b) { return UnitAccess::raw(b); }
constexpr double in_gib(Bytes b) { return static_cast<double>(in_bytes(b)) / static_cast<double>(gibi); }
constexpr double in_gigabytes(Bytes b) { return static_cast<double>(in_bytes(b)) / giga; }

constexpr Parameters parameters(std::int64_t n) { return UnitAccess::make<Parameters>(n); }
constexpr std::int64_t in_parameters(Parameters p) { return UnitAccess::raw(p); }

constexpr BitsPerElement bits_per_element(double n) { return UnitAccess::make<BitsPerElement>(n); }
constexpr double in_bits_per_element(BitsPerElement b) { return UnitAccess::raw(b); }

constexpr Tokens tokens(double n) { return UnitAccess::make<Tokens>(n); }
constexpr double in_tokens(Tokens t) { return UnitAccess::raw(t); }

constexpr Flops flops(double n) { return UnitAccess::make<Flops>(n); }
constexpr double in_flops(Flops f) { return UnitAccess::raw(f); }
/// 1 PFLOP-day = 1e15 FLOP/s for 86,400 s = 8.64e19 FLOP (Brown et al. 2020, appendix D).
constexpr double in_pflop_days(Flops f) { return in_flops(f) / (1e15 * seconds_per_day); }
constexpr Flops pflop_days(double n) { return flops(n * 1e15 * seconds_per_day); }

constexpr FlopRate teraflops(double n) { return UnitAccess::make<FlopRate>(n * tera); }
constexpr FlopRate flops_per_second(double n) { return UnitAccess::make<FlopRate>(n); }
constexpr double in_flops_per_second(FlopRate r) { return UnitAccess::raw(r); }
constexpr double in_teraflops(FlopRate r) { return UnitAccess::raw(r) / tera; }

constexpr Seconds seconds(double n) { return UnitAccess::make<Seconds>(n); }
constexpr Seconds hours(double n) { return seconds(n * seconds_per_hour); }
constexpr Seconds days(double n) { return seconds(n * seconds_per_day); }
constexpr double in_seconds(Seconds s) { return UnitAccess::raw(s); }
constexpr double in_hours(Seconds s) { return in_seconds(s) / seconds_per_hour; }

constexpr Bandwidth bytes_per_second(double n) { return UnitAccess::make<Bandwidth>(n); }
constexpr Bandwidth gigabytes_per_second(double n) { return UnitAccess::make<Bandwidth>(n * giga); }
constexpr double in_bytes_per_second(Bandwidth b) { return UnitAccess::raw(b); }
constexpr double in_gigabytes_per_second(Bandwidth b) { return UnitAccess::raw(b) / giga; }

constexpr Money dollars(double n) { return UnitAccess::make<Money>(n); }
constexpr double in_dollars(Money m) { return UnitAccess::raw(m); }

constexpr Seconds operator/(Flops work, FlopRate rate) { return seconds(in_flops(work) / in_flops_per_second(rate)); }
constexpr Flops operator*(FlopRate rate, Seconds time) { return flops(in_flops_per_second(rate) * in_seconds(time)); }
constexpr Seconds operator/(Bytes data, Bandwidth rate) {
  return seconds(static_cast<double>(in_bytes(data)) / in_bytes_per_second(rate));
}

}  // namespace llmcalc::quantity
