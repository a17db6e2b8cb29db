#include "program/release.hpp"

#include <charconv>

namespace llmcalc::program {

namespace {

constexpr Release current{5, 0};
constexpr Release of_summer_2024{4, 44};

/// Reads "4.48" at the start of `text`; false if there is no such number.
bool read_release(std::string_view text, Release& release) {
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, release.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return false;
  return std::from_chars(major.ptr + 1, end, release.minor).ec == std::errc();
}

bool names_year_until_2024(std::string_view text) {
  return text.find("2024") != std::string_view::npos || text.find("2023") != std::string_view::npos;
}

}  // namespace

Release transformers_release(std::string_view version_text) {
  constexpr std::string_view library = "transformers ";
  Release release;
  const std::size_t found = version_text.find(library);
  if (found != std::string_view::npos && read_release(version_text.substr(found + library.size()), release))
    return release;
  return names_year_until_2024(version_text) ? of_summer_2024 : current;
}

}  // namespace llmcalc::program
