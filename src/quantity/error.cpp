#include "llmcalc/quantity/error.hpp"

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

}  // namespace llmcalc::quantity
