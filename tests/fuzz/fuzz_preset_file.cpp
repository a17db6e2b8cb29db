// Any text as a user's preset file: it is read, or refused with BadInput, and nothing else happens.

#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace llmcalc;

template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const quantity::BadInput&) {
    return;  // the only answer to a bad file
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<read::PresetFile> file{{"fuzz.json", std::string(reinterpret_cast<const char*>(data), size)}};
  read_or_refuse([&] { read::Catalogue(file, {}); });
  read_or_refuse([&] { read::Catalogue({}, file); });
  read_or_refuse([&] { read::Catalogue({}, {}, {}, file); });
  read_or_refuse([&] { read::read_calibration(file[0].text, file[0].path); });
  return 0;
}
