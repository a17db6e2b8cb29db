// Any bytes, read as lines of "term=text", are answered or refused; nothing else may come out of a question.
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/resolve.hpp"
#include "llmcalc/search/advice.hpp"
#include "words.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto resolved = read::resolve(fuzz::words_of(text), std::nullopt, read::Catalogue());
    auto estimate = answer::estimate(resolved.question);
    search::advise(resolved.question, {}, estimate.verdict);
  } catch (const quantity::BadInput&) {  // a question that cannot be answered
  } catch (const quantity::Overflow&) {  // or whose answer has no room in 64 bits
  }
  return 0;
}
