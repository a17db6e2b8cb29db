// Any bytes, read as lines of "term=text", are answered or refused; nothing else may come out of a question.
#include "api/asked.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "words.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    api::fit(fuzz::words_of(text), std::nullopt, read::Catalogue());
  } catch (const quantity::BadInput&) {  // a question that cannot be answered
  } catch (const quantity::Overflow&) {  // or whose answer has no room in 64 bits
  }
  return 0;
}
