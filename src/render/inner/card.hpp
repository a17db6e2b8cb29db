// A card: a title and aligned lines of label and value, those without a value left out.
#pragma once

#include "render/inner/table.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

class Card {
 public:
  explicit Card(std::string_view title);

  void add(std::string_view label, std::string value);
  void add_heading(std::string_view heading);
  std::string render() const { return table_.render(); }

 private:
  Table table_;
};

/// The number as text; empty for 0, which stands for "does not apply".
std::string unless_zero(std::int64_t value);

}  // namespace llmcalc::render
