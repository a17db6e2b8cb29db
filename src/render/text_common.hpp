// What several sections of the text answer share.
#pragma once

#include "llmcalc/render/report.hpp"
#include "render/memory_unit.hpp"
#include "render/table.hpp"

#include <string>

namespace llmcalc::render {

/// The unit in which the whole answer states memory.
MemoryUnit memory_unit_of(const answer::Estimate& estimate);

/// Formula, numbers and source, a line each, under the row that was added last; nothing unless the style explains.
void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style);

/// A figure without unit, to be read: "8,365", "20.4", "3.5e+16".
std::string figure_text(double value);

}  // namespace llmcalc::render
