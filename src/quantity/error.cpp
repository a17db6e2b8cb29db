#include "llmcalc/quantity/error.hpp"

#include "llmcalc/quantity/checked.hpp"

#include <fmt/format.h>

#include <utility>

namespace llmcalc::quantity {

namespace {

std::string sentence(const std::string& place, const std::string& problem, const std::string& hint) {
  return (place.empty() ? "" : place + ": ") + problem + (hint.empty() ? "" : "; " + hint);
}

}  // namespace

BadInput::BadInput(std::string place, std::string problem, std::string hint)
    : std::runtime_error(sentence(place, problem, hint)),
      place_(std::move(place)),
      problem_(std::move(problem)),
      hint_(std::move(hint)) {}

void throw_overflow(const char* operation, std::int64_t a, std::int64_t b) {
  throw Overflow(fmt::format("{} {} {} does not fit in 64 bits", a, operation, b));
}

}  // namespace llmcalc::quantity
