// Files in a zip archive, as torch.save writes them: none is compressed.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace llmcalc::read
