// Any bytes as a snapshot of PyTorch's memory.
#include "llmcalc/quantity/error.hpp"
#include "read/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  try {
    read::parse_memory_snapshot({reinterpret_cast<const char*>(data), size}, "file");
  } catch (const quantity::BadInput&) {
    return 0;
  }
  return 0;
}
