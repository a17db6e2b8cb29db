// Which release of a library a run used, as far as its version text says.
#pragma once

#include <compare>
#include <string_view>

namespace llmcalc::frameworks {

struct Release {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const Release&, const Release&) = default;
};

/// Reads "transformers 4.48.1" out of free text. Text that names the year 2024 or an earlier one and no release means
/// the last one of that August (4.44); anything else means the current release.
Release transformers_release(std::string_view version_text);

/// The same of "torch 2.9". No text means the current release, one without it an older run.
Release torch_release(std::string_view version_text);

/// Reads "torchtune 0.1" out of free text; text without a release means the last one (0.6).
Release torchtune_release(std::string_view version_text);

/// A day; a year alone is its first.
struct Day {
  int year = 0;
  int month = 1;
  int day = 1;

  friend constexpr auto operator<=>(const Day&, const Day&) = default;
};

/// The last day that a version text names, "2024-12-23" or "2024"; far in the future where it names none.
Day dated(std::string_view version_text);

/// True of text that names a year and none after `year`.
bool is_dated_until(std::string_view version_text, int year);

}  // namespace llmcalc::frameworks
