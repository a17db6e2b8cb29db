// Any bytes, read as lines of "term=text", are answered or refused; nothing else may come out of a question.
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/resolve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::vector<llmcalc::read::Given> words_of(std::string_view text) {
  std::vector<llmcalc::read::Given> words;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string term(line.substr(0, equals));
    words.push_back({term, std::string(line.substr(equals + 1)), {llmcalc::read::Source::flag, "--" + term}});
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmcalc;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto resolved = read::resolve(words_of(text), std::nullopt, read::Catalogue());
    auto estimate = answer::estimate(resolved.question);
    answer::advise(resolved.question, {}, estimate);
  } catch (const quantity::BadInput&) {  // a question that cannot be answered
  } catch (const quantity::Overflow&) {  // or whose answer has no room in 64 bits
  }
  return 0;
}
