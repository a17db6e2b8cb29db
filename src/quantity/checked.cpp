#include "llmcalc/quantity/checked.hpp"

#include <fmt/format.h>

namespace llmcalc::quantity {

void throw_overflow(const char* operation, std::int64_t a, std::int64_t b) {
  throw Overflow(fmt::format("{} {} {} does not fit in 64 bits", a, operation, b));
}

}  // namespace llmcalc::quantity
