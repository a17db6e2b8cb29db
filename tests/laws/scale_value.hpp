// One figure of a scaling answer.
#pragma once

#include "catch.hpp"
#include "laws/scaling.hpp"

#include <string_view>

namespace llmcalc::test {

inline double value(const laws::ScaleAnswer& scaled, std::string_view id) {
  const auto* line = laws::find_line(scaled, id);
  INFO("line " << id);
  REQUIRE(line != nullptr);
  return line->value;
}

}  // namespace llmcalc::test
