// Any text as a command or a script: nothing is executed, and nothing but BadInput comes out of what is none.
#include "dialects/reading.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  try {
    dialects::is_launch_command(text);
    with_options(dialects::read_launch_command(text, "command", nothing), {});
  } catch (const quantity::BadInput&) {
    return 0;
  } catch (const quantity::Overflow&) {
    return 0;
  }
  return 0;
}
