// Little-endian values from the beginning of a file, each checked against what the file holds.
#pragma once

#include "llmcalc/read/checkpoint.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// Thrown where a header reaches beyond the bytes at hand but not beyond the file.
struct MoreBytes {
  std::uint64_t needs = 0;
};

class ByteReader {
 public:
  ByteReader(const FileHead& file, std::string_view place, std::uint64_t position)
      : file_(file), place_(place), position_(position) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return file_.size - position_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() { return integer(8); }
  std::string_view bytes(std::uint64_t count);
  void skip(std::uint64_t count);

  [[noreturn]] void fail(const std::string& problem) const;

  /// Refuses a count of things of which each takes at least so many bytes, where the file has no room for them.
  void check_count(std::uint64_t count, std::uint64_t least_size, std::string_view what) const;

 private:
  std::uint64_t integer(unsigned size);
  void need(std::uint64_t count) const;

  FileHead file_;
  std::string_view place_;
  std::uint64_t position_;
};

}  // namespace llmcalc::read
