#include "llmcalc/frameworks/release.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace llmcalc::frameworks {

namespace {

constexpr Release current{5, 0};
constexpr Release of_summer_2024{4, 44};
constexpr Release current_torch{2, 11};
constexpr Release older_torch{2, 0};
constexpr Release last_torchtune{0, 6};

/// Reads "4.48" at the start of `text`; false if there is no such number.
bool read_release(std::string_view text, Release& release) {
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, release.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return false;
  return std::from_chars(major.ptr + 1, end, release.minor).ec == std::errc();
}

/// The year that starts at `at`; 0 if there is none.
int year_at(std::string_view text, std::size_t at) {
  constexpr std::size_t digits = 4;
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if ((at > 0 && is_digit(at - 1)) || is_digit(at + digits)) return 0;
  int year = 0;
  const char* begin = text.data() + at;
  const auto read = std::from_chars(begin, begin + std::min(digits, text.size() - at), year);
  return read.ptr == begin + digits ? year : 0;
}

/// "-12" at `at`; nothing where something else stands there.
std::optional<int> two_digits_behind_dash(std::string_view text, std::size_t at) {
  constexpr std::size_t length = 3;
  if (at + length > text.size() || text[at] != '-') return std::nullopt;
  int number = 0;
  const char* begin = text.data() + at + 1;
  const auto read = std::from_chars(begin, begin + length - 1, number);
  return read.ptr == begin + length - 1 ? std::optional(number) : std::nullopt;
}

/// The release behind the library's name; `otherwise` where the text does not say.
Release named_release(std::string_view version_text, std::string_view library, Release otherwise) {
  Release release;
  const std::size_t found = version_text.find(library);
  if (found == std::string_view::npos) return otherwise;
  return read_release(version_text.substr(found + library.size()), release) ? release : otherwise;
}

}  // namespace

Day dated(std::string_view version_text) {
  constexpr std::size_t month_at = 4;
  constexpr std::size_t day_at = 7;
  Day latest{0};
  for (std::size_t at = version_text.find("20"); at != std::string_view::npos; at = version_text.find("20", at + 1)) {
    Day day{year_at(version_text, at)};
    if (day.year == 0) continue;
    day.month = two_digits_behind_dash(version_text, at + month_at).value_or(1);
    day.day = two_digits_behind_dash(version_text, at + day_at).value_or(1);
    latest = std::max(latest, day);
  }
  return latest.year == 0 ? Day{9999} : latest;
}

bool is_dated_until(std::string_view version_text, int year) {
  int latest = 0;
  for (std::size_t at = version_text.find("20"); at != std::string_view::npos; at = version_text.find("20", at + 1)) {
    latest = std::max(latest, year_at(version_text, at));
  }
  return latest > 0 && latest <= year;
}

Release transformers_release(std::string_view version_text) {
  const Release unnamed = is_dated_until(version_text, 2024) ? of_summer_2024 : current;
  return named_release(version_text, "transformers ", unnamed);
}

Release torch_release(std::string_view version_text) {
  return named_release(version_text, "torch ", version_text.empty() ? current_torch : older_torch);
}

Release torchtune_release(std::string_view version_text) {
  return named_release(version_text, "torchtune ", last_torchtune);
}

}  // namespace llmcalc::frameworks
