// Little-endian values from the beginning of a file, each checked against what the file holds.
#pragma once

#include "llmcalc/quantity/error.hpp"
#include "read/checkpoint.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// Thrown where a header reaches beyond the bytes at hand, nobody has more of them, and the file does not end there.
struct MoreBytes {
  std::uint64_t needs = 0;
};

class ByteReader {
 public:
  ByteReader(const FileHead& file, std::string_view place) : file_(file), place_(place), window_(file.bytes) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return file_.size - position_; }

  std::uint8_t u8() { return integer<std::uint8_t>(); }
  std::uint16_t u16() { return integer<std::uint16_t>(); }
  std::uint32_t u32() { return integer<std::uint32_t>(); }
  std::uint64_t u64() { return integer<std::uint64_t>(); }
  /// Valid until the next bytes are read.
  std::string_view bytes(std::uint64_t count) {
    if (!holds(count)) fetch(count);
    const auto text = window_.substr(position_ - begin_, count);
    position_ += count;
    return text;
  }
  void skip(std::uint64_t count) {
    check_left(count);
    position_ += count;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw quantity::BadInput(fmt::format("{}:byte {}", place_, position_), problem);
  }

  /// Refuses a count of things of which each takes at least so many bytes, where the file has no room for them.
  void check_count(std::uint64_t count, std::uint64_t least_size, std::string_view what) const {
    if (count <= left() / least_size) return;
    fail(fmt::format("{} {} do not fit into the {} bytes that follow", count, what, left()));
  }

 private:
  bool holds(std::uint64_t count) const {
    const auto end = begin_ + window_.size();
    return position_ >= begin_ && position_ <= end && count <= end - position_;
  }
  /// Brings so many bytes into the window.
  void fetch(std::uint64_t count) {
    check_left(count);
    if (!file_.further) throw MoreBytes{position_ + count};
    window_ = file_.further(position_, count);
    begin_ = position_;
  }
  void check_left(std::uint64_t count) const {
    if (count > left()) fail(fmt::format("the file ends here, {} bytes short", count - left()));
  }

  template <class Integer>
  Integer integer() {
    const auto text = bytes(sizeof(Integer));
    Integer value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&value, text.data(), sizeof(Integer));
    } else {
      for (unsigned i = 0; i < sizeof(Integer); ++i) {
        value = static_cast<Integer>(value | Integer{static_cast<unsigned char>(text[i])} << (8U * i));
      }
    }
    return value;
  }

  FileHead file_;
  std::string_view place_;
  std::string_view window_;  ///< the bytes of the file from `begin_` on that are at hand
  std::uint64_t begin_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace llmcalc::read
