// Any bytes as a pickle of Python, or as the archive that torch.save writes around one.
#include "llmcalc/quantity/error.hpp"
#include "read/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  try {
    read::flat(read::parse_pickle({reinterpret_cast<const char*>(data), size}, "file"));
  } catch (const quantity::BadInput&) {
    return 0;
  }
  return 0;
}
