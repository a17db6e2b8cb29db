// Any bytes as a file of measured runs: rows are read and their questions resolved; only a named mistake may escape.

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace llmcalc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const read::Catalogue catalogue;
  try {
    read::MeasuredRows rows(std::string(text), "runs.csv");
    for (auto left = rows.count(); left > 0; --left) {
      const auto run = rows.next();
      try {
        read::resolve(run.question, std::nullopt, catalogue);
      } catch (const quantity::BadInput&) {  // a row that cannot be answered is counted, and the next one is read
      }
    }
  } catch (const quantity::BadInput&) {
  } catch (const quantity::Overflow&) {
  }
  return 0;
}
