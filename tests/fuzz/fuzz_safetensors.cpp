// Any bytes as the beginning of a safetensors file, which may be longer than they are.
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/checkpoint.hpp"
#include "llmcalc/read/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t whole : {std::uint64_t{size}, std::uint64_t{size} + 4096}) {
    try {
      const auto result = read::read_safetensors({bytes, whole}, "file");
      if (result.checkpoint && result.checkpoint->config) read::read_config(result.checkpoint->config->json, "file");
    } catch (const quantity::BadInput&) {
      continue;
    }
  }
  return 0;
}
