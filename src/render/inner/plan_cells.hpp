// What the forms of a plan's answer share.
#pragma once

#include "render/inner/json_values.hpp"
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

/// The figures of a run.
Json run_object(const search::PlannedRun& run);

/// A field of a CSV line, quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text);

/// The shortest text that reads back as the same number.
std::string exact(double value);

}  // namespace llmcalc::render
