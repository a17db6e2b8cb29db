// What the forms of a plan's answer share.
#pragma once

#include "render/plan.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

/// Of a term that is only on or off: its value says nothing beside its name.
bool is_switched_on(std::string_view term, std::string_view value);

/// Whether a value that all rows share is worth a column: one of a way to be parallel that is used.
bool is_told(std::string_view term, std::string_view value);

/// A head for a narrow column: "mb" for micro_batch.
std::string short_name(std::string_view term);

/// The shortest text that reads back as the same number.
std::string exact(double value);

}  // namespace llmcalc::render
