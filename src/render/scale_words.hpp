// The words for where a figure of `scale` comes from and what it is about.
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

struct SectionWords {
  std::string_view id;       ///< for programs
  std::string_view heading;  ///< for people; the run itself has none
};

constexpr SectionWords words_of(answer::ScaleSection section) {
  switch (section) {
    case answer::ScaleSection::run:
      return {"run", ""};
    case answer::ScaleSection::optimum:
      return {"optimum", "the best for this compute"};
    case answer::ScaleSection::smaller:
      return {"smaller", "a smaller model with the same loss"};
    case answer::ScaleSection::serving:
      return {"serving", "the best to train and serve, with the same loss"};
    case answer::ScaleSection::batch:
      return {"batch", "batch size and learning rate"};
  }
  return {};
}

}  // namespace llmcalc::render
