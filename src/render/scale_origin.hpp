// The words for where a figure of `scale` comes from.
#pragma once

#include "llmcalc/answer/scaling.hpp"

#include <string_view>

namespace llmcalc::render {

constexpr std::string_view word_of(answer::Origin origin) {
  switch (origin) {
    case answer::Origin::given:
      return "given";
    case answer::Origin::derived:
      return "derived";
    case answer::Origin::assumed:
      return "assumed";
  }
  return {};
}

}  // namespace llmcalc::render
