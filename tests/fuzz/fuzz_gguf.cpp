// Any bytes as the beginning of a gguf file, which may be longer than they are; and as one that is read in parts.
#include "llmcalc/quantity/error.hpp"
#include "read/checkpoint.hpp"
#include "read/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const read::FilePart by_parts = [&](std::uint64_t from, std::uint64_t count) { return bytes.substr(from, count); };
  for (const auto& file :
       {read::FileHead{bytes, size}, read::FileHead{bytes, size + 4096}, read::FileHead{{}, size, by_parts}}) {
    try {
      const auto result = read::read_gguf(file, "file");
      if (result.checkpoint && result.checkpoint->config) read::read_config(result.checkpoint->config->json, "file");
    } catch (const quantity::BadInput&) {
      continue;
    }
  }
  return 0;
}
