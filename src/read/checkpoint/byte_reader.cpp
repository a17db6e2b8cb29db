#include "read/checkpoint/byte_reader.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace llmcalc::read {

void ByteReader::fail(const std::string& problem) const {
  throw quantity::BadInput(fmt::format("{}:byte {}", place_, position_), problem);
}

void ByteReader::need(std::uint64_t count) const {
  if (count > left()) fail(fmt::format("the file ends here, {} bytes short", count - left()));
  if (position_ + count > file_.bytes.size()) throw MoreBytes{position_ + count};
}

std::string_view ByteReader::bytes(std::uint64_t count) {
  need(count);
  const auto text = file_.bytes.substr(position_, count);
  position_ += count;
  return text;
}

void ByteReader::skip(std::uint64_t count) {
  need(count);
  position_ += count;
}

std::uint64_t ByteReader::integer(unsigned size) {
  const auto text = bytes(size);
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, text.data(), size);
  } else {
    for (unsigned i = 0; i < size; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8U * i);
    }
  }
  return value;
}

void ByteReader::check_count(std::uint64_t count, std::uint64_t least_size, std::string_view what) const {
  if (count <= left() / least_size) return;
  fail(fmt::format("{} {} do not fit into the {} bytes that follow", count, what, left()));
}

}  // namespace llmcalc::read
