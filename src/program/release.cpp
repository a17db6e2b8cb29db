#include "program/release.hpp"

#include <charconv>

namespace llmcalc::program {

namespace {

constexpr Release current{5, 0};
constexpr Release of_summer_2024{4, 44};
constexpr Release current_torch{2, 11};
constexpr Release older_torch{2, 0};

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

/// The release behind the library's name; `otherwise` where the text does not say.
Release named_release(std::string_view version_text, std::string_view library, Release otherwise) {
  Release release;
  const std::size_t found = version_text.find(library);
  if (found == std::string_view::npos) return otherwise;
  return read_release(version_text.substr(found + library.size()), release) ? release : otherwise;
}

}  // namespace

Release transformers_release(std::string_view version_text) {
  return named_release(version_text, "transformers ", names_year_until_2024(version_text) ? of_summer_2024 : current);
}

Release torch_release(std::string_view version_text) {
  return named_release(version_text, "torch ", version_text.empty() ? current_torch : older_torch);
}

}  // namespace llmcalc::program
