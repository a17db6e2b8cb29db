#include "read/settings/archive.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <string>

namespace llmcalc::read {
namespace {

constexpr std::string_view local_header = "PK\x03\x04";
constexpr std::string_view central_header = "PK\x01\x02";
constexpr std::string_view end_of_directory = "PK\x05\x06";

}  // namespace

bool is_archive(std::string_view bytes) { return bytes.starts_with(local_header); }

/// A file of a zip archive, whose directory stands at its end (PKWARE APPNOTE 4.3.12, 4.3.16); torch.save compresses
/// none.
std::string_view archived(std::string_view bytes, std::string_view name, std::string_view place) {
  const auto fail = [&](const std::string& problem) { throw quantity::BadInput(std::string(place), problem); };
  const auto end = bytes.rfind(end_of_directory);
  if (end == bytes.npos || bytes.size() - end < 22) fail("is an archive whose end is missing");
  std::uint64_t at = number_at(bytes, end + 16, 4);
  while (at + 46 <= bytes.size() && bytes.substr(at).starts_with(central_header)) {
    const auto called = bytes.substr(at + 46, number_at(bytes, at + 28, 2));
    const auto size = number_at(bytes, at + 20, 4);
    const auto header = number_at(bytes, at + 42, 4);
    if (called.ends_with(name)) {
      if (number_at(bytes, at + 10, 2) != 0) fail(fmt::format("is an archive whose {} is compressed", name));
      if (header + 30 > bytes.size()) fail("is an archive that ends too early");
      const auto begin = header + 30 + number_at(bytes, header + 26, 2) + number_at(bytes, header + 28, 2);
      if (begin > bytes.size() || size > bytes.size() - begin) fail("is an archive that ends too early");
      return bytes.substr(begin, size);
    }
    at += 46 + number_at(bytes, at + 28, 2) + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  }
  fail(fmt::format("is an archive without {}: torch.save wrote none of it", name));
  return {};
}

}  // namespace llmcalc::read
