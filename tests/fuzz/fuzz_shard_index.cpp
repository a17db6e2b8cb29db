// Any text as the index of a checkpoint's shards.
#include "llmcalc/quantity/error.hpp"
#include "read/checkpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    read::read_shard_index(text, "index");
  } catch (const quantity::BadInput&) {
    return 0;
  }
  read::lfs_pointer_size(text);
  return 0;
}
