// Layouts that no run can have, for whoever asks about one and for whoever searches all.
#pragma once

#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"

#include <string_view>

namespace llmcalc::spec {

/// What a rule looks at.
struct LayoutUse {
  const Shape& shape;
  const Training& training;
  const Layout& layout;
};

/// A rule, and the two terms of the vocabulary that contradict each other where it is broken.
struct LayoutRule {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint;
  bool (*broken)(const LayoutUse& use);
};

/// The first rule that is broken, or nullptr.
const LayoutRule* broken_rule(const LayoutUse& use);

}  // namespace llmcalc::spec
