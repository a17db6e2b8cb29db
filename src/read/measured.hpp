// Measured runs in the project's own schema (docs/validate.md): a question a row, and what was measured.
#pragma once

#include "read/given.hpp"
#include "spec/measurement.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct MeasuredRun {
  std::string id;
  std::string place;            ///< "runs.csv:12"
  std::vector<Given> question;  ///< the cells of the question that are not blank; their origin is "runs.csv:12:seq"
  spec::Measure measure = spec::Measure::peak_allocated;
  spec::Step step = spec::Step::steady;  ///< also where the row does not say
  double value = 0.0;                    ///< bytes, 1, seconds, or tokens per second and accelerator; more than 0
  std::vector<Given> cells;              ///< all that are not blank, by column, for filters and groups
};

/// The text of a column, empty where the row leaves it blank.
std::string_view cell(const MeasuredRun& run, std::string_view column);

/// What rows that repeat one run over releases have in common: the "config-group: NAME" of their notes; empty
/// otherwise.
std::string configuration(const MeasuredRun& run);

/// The schema's name of a column: "kv-heads" is "kv_heads".
/// \throws quantity::BadInput at `place` with the nearest names when the schema has no such column
std::string column_name(std::string_view written, std::string_view place);

/// Reads a file of measured runs.
/// \param place  the file's name
/// \throws quantity::BadInput for an unknown, missing or repeated column, a row of the wrong length, and an answer
///         that cannot be read; whether the question can be answered is for resolve() to say
std::vector<MeasuredRun> read_measured(std::string_view csv, std::string_view place);

}  // namespace llmcalc::read
