// Bars of block characters.
#pragma once

#include <string>

namespace llmcalc::render {

/// Of a share in a table.
constexpr int bar_columns = 20;

/// A bar of `columns` for the whole, drawn in eighths of a column (Unicode block elements U+2588 to U+258F).
std::string bar(double share, int columns);

}  // namespace llmcalc::render
