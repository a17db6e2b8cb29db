// The words for where a figure of `scale` comes from and what it is about.
#pragma once

#include "laws/scaling.hpp"

#include <string_view>

namespace llmcalc::render {

constexpr std::string_view word_of(laws::Standing origin) {
  switch (origin) {
    case laws::Standing::given: return "given";
    case laws::Standing::derived: return "derived";
    case laws::Standing::assumed: return "assumed";
  }
  return {};
}

struct SectionWords {
  std::string_view id;       ///< for programs
  std::string_view heading;  ///< for people; the run itself has none
};

constexpr SectionWords words_of(laws::ScaleSection section) {
  switch (section) {
    case laws::ScaleSection::run: return {"run", ""};
    case laws::ScaleSection::optimum: return {"optimum", "the best for this compute"};
    case laws::ScaleSection::smaller: return {"smaller", "a smaller model with the same loss"};
    case laws::ScaleSection::serving: return {"serving", "the best to train and serve, with the same loss"};
    case laws::ScaleSection::serving_budget:
      return {"serving_budget", "the best to train and serve, within the same budget"};
    case laws::ScaleSection::batch: return {"batch", "batch size and learning rate"};
  }
  return {};
}

}  // namespace llmcalc::render
