// Measured runs in the project's own schema: a question a row, and what was measured.
#pragma once

#include "llmcalc/read/given.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// What a row measured (docs/validate.md).
enum class Measure { peak_allocated, peak_reserved, nvidia_smi, persistent, fits, oom, step_time, tokens_per_gpu };

std::string_view name_of(Measure measure);

struct MeasuredRun {
  std::string id;
  std::vector<Given> question;  ///< the cells that are not blank, in the vocabulary of `llmcalc fit`
  Measure measure = Measure::peak_allocated;
  double value = 0.0;           ///< bytes, 1, seconds, or tokens per second and accelerator
  bool first_step = false;      ///< measured in the first optimizer step
  std::vector<Given> all;       ///< every cell by column, provenance included, for filters and groups
};

/// The cell of a column, or an empty text.
std::string_view cell(const MeasuredRun& run, std::string_view column);

/// Reads a file of measured runs.
/// \param place  the file's name; a question's words carry "FILE:LINE:COLUMN" as their origin
/// \throws quantity::BadInput for an unknown or missing column, a row of the wrong length, an unknown quantity or a
///         value that is no number
std::vector<MeasuredRun> read_measured(std::string_view csv, std::string_view place);

}  // namespace llmcalc::read
