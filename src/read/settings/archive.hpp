// Files in a zip archive, as torch.save writes them: none is compressed; and the bytes of a pickle in one.
#pragma once

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// Unsigned and little-endian; the caller knows that the bytes are there.
inline std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

bool is_archive(std::string_view bytes);

/// The bytes of the file whose name ends so.
/// \throws quantity::BadInput at `place` where the archive has none, or is cut off
std::string_view archived(std::string_view bytes, std::string_view name, std::string_view place);

/// The bytes of a pickle, taken from the front.
class PickleBytes {
 protected:
  PickleBytes(std::string_view bytes, std::string_view place) : bytes_(bytes), place_(place) {}

  [[noreturn]] void fail(const std::string& problem) const { throw quantity::BadInput(std::string(place_), problem); }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail(fmt::format("ends within what begins at byte {}", at_));
    const auto piece = bytes_.substr(at_, count);
    at_ += count;
    return piece;
  }
  std::uint64_t number(std::size_t width) { return number_at(take(width), 0, width); }
  /// Two's complement of up to eight bytes.
  std::int64_t whole(std::size_t width) {
    if (width > 8) fail(fmt::format("holds a whole number of {} bytes", width));
    const auto unused = static_cast<unsigned>(64 - 8 * width);
    return width == 0 ? 0 : std::bit_cast<std::int64_t>(number(width) << unused) >> unused;
  }

  std::string_view bytes_;
  std::string_view place_;
  std::size_t at_ = 0;
};

}  // namespace llmcalc::read
