#include "llmcalc/read/given.hpp"

namespace llmcalc::read {

std::string_view word_of(Source source) {
  switch (source) {
    case Source::flag: return "flag";
    case Source::row: return "row";
    case Source::file: return "file";
    case Source::preset: return "preset";
    case Source::config: return "config";
    case Source::user_preset: return "user_preset";
    case Source::assumed: return "assumed";
    case Source::default_value: return "default";
  }
  return {};
}

}  // namespace llmcalc::read
