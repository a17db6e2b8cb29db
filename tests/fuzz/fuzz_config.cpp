// Any text as a config.json: it becomes a shape that can be built, or is refused with BadInput, and nothing else
// happens.

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/model.hpp"
#include "read/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace llmcalc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    spec::build_model(read::read_config({reinterpret_cast<const char*>(data), size}, "config.json").shape);
  } catch (const quantity::BadInput&) {
    return 0;  // the only answer to a bad file
  }
  return 0;
}
