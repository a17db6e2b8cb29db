// Any text as a file of a trainer or server: it becomes words of a question, or is refused with BadInput.
#include "dialects/reading.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // A file that names another finds itself: what it includes is bounded.
  const dialects::FindFile itself = [&](const std::string&) { return dialects::NamedFile{"again", std::string(text)}; };
  try {
    with_options(dialects::read_launch_file(text, "file", itself), {});
  } catch (const quantity::BadInput&) {
    return 0;
  } catch (const quantity::Overflow&) {
    return 0;
  }
  return 0;
}
