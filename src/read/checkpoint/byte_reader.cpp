#include "read/checkpoint/byte_reader.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

namespace llmcalc::read {

void ByteReader::fail(const std::string& problem) const {
  throw quantity::BadInput(fmt::format("{}:byte {}", place_, position_), problem);
}

void ByteReader::check_left(std::uint64_t count) const {
  if (count > left()) fail(fmt::format("the file ends here, {} bytes short", count - left()));
}

void ByteReader::fetch(std::uint64_t count) {
  check_left(count);
  if (!file_.further) throw MoreBytes{position_ + count};
  window_ = file_.further(position_, count);
  begin_ = position_;
}

void ByteReader::skip(std::uint64_t count) {
  check_left(count);
  position_ += count;
}

void ByteReader::check_count(std::uint64_t count, std::uint64_t least_size, std::string_view what) const {
  if (count <= left() / least_size) return;
  fail(fmt::format("{} {} do not fit into the {} bytes that follow", count, what, left()));
}

}  // namespace llmcalc::read
