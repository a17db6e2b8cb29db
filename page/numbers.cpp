// Numbers as text and back, in the place of the C++ library's: its tables for any number of digits are a twentieth of
// what is packed, and what the core asks it for others that are here anyway can do: the shortest digits are fmt's
// (Dragonbox), and the C library reads them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace {

/// The shortest text that reads back as the same number, without an exponent where that is no longer
/// ([charconv.to.chars]).
std::string shortest(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const auto [significand, exponent] = fmt::detail::dragonbox::to_decimal(std::abs(value));
  const std::string digits = std::to_string(significand);
  const int before = static_cast<int>(digits.size()) + exponent;  // digits in front of the point
  std::string scientific = digits;
  if (digits.size() > 1) scientific.insert(1, ".");
  scientific += fmt::format("e{:+03}", before - 1);
  std::string fixed = digits;
  if (exponent >= 0) {
    fixed = fmt::format("{:.0f}", std::abs(value));
  } else if (before > 0) {
    fixed.insert(static_cast<std::size_t>(before), ".");
  } else {
    fixed.insert(0, "0." + std::string(static_cast<std::size_t>(-before), '0'));
  }
  return (value < 0 ? "-" : "") + (fixed.size() <= scientific.size() ? fixed : scientific);
}

}  // namespace

_LIBCPP_BEGIN_NAMESPACE_STD

to_chars_result to_chars(char* first, char* last, double value) {
  const std::string text = shortest(value);
  if (last - first < static_cast<std::ptrdiff_t>(text.size())) return {last, errc::value_too_large};
  return {std::copy(text.begin(), text.end(), first), errc()};
}

/// Reads what strtod reads but for blanks, a plus and hexadecimal digits ([charconv.from.chars]).
template <class Number>
__from_chars_result<Number> __from_chars_floating_point(_LIBCPP_NOESCAPE const char* first,
                                                        _LIBCPP_NOESCAPE const char* last, chars_format) {
  const std::string text(first, std::find_if(first, last, [](char c) { return c == 'x' || c == 'X'; }));
  const bool is_other = text.empty() || text.front() == '+' || std::isspace(static_cast<unsigned char>(text.front()));
  if (is_other) return {0, 0, errc::invalid_argument};
  errno = 0;
  char* end = nullptr;
  const Number value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {0, 0, errc::invalid_argument};
  const bool is_beyond = errno == ERANGE && (value == 0 || std::isinf(value));
  return {value, end - text.c_str(), is_beyond ? errc::result_out_of_range : errc()};
}

template __from_chars_result<double> __from_chars_floating_point(_LIBCPP_NOESCAPE const char*,
                                                                 _LIBCPP_NOESCAPE const char*, chars_format);

_LIBCPP_END_NAMESPACE_STD
