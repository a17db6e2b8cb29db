// What a search found, as text, JSON and CSV.
#pragma once

#include "dialects/launch.hpp"
#include "llmcalc/render/report.hpp"
#include "search/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::render {

/// A run in the vocabulary of `fit`, a value for each term of the report.
struct PlanRow {
  std::vector<std::string> values;
  search::PlannedRun run;
};

struct PlanReport {
  std::string objective;           ///< "step-time"
  std::vector<std::string> terms;  ///< columns of every row
  std::vector<PlanRow> best;
  std::vector<PlanRow> each;  ///< the best of each run that is compared; empty where there is one
  std::vector<PlanRow> front;
  std::optional<PlanRow> sure;  ///< where the best fits within its error bar only: the best under --strict
  std::int64_t looked_at = 0;
  std::int64_t fitting = 0;
  bool limited = false;                      ///< a layout that fits may be beyond what a run may take
  std::string never_finishes;                ///< why no layout ends; empty where one does, or none fits
  bool counted = true;                       ///< somebody said how many accelerators there are
  std::optional<answer::Estimate> estimate;  ///< of the best run; none when nothing fits
  std::string largest_term;                  ///< what was made as large as fits, if anything
  std::string largest_value;
  std::string fit_command;  ///< that answers with this estimate
  std::vector<dialects::Launch> launch;
  std::vector<spec::Assumption> assumptions;
  std::vector<std::string> warnings;
  std::string version;
};

/// A layout in a few words, of those that tell it apart: "dp 4, tp 2 sp, zero1, micro-batch 2".
std::string layout_words(const PlanReport& report, const PlanRow& row);

std::string to_text(const PlanReport& report, const TextStyle& style);
std::string to_json(const PlanReport& report);

/// One file for a browser: no script, nothing fetched.
std::string to_html(const PlanReport& report, const TextStyle& style);

/// The best runs, then the front, one a line, in the vocabulary of measured runs: `validate` reads such columns.
std::string to_csv(const PlanReport& report);

/// One best run for each pair of values; empty where nothing fits.
struct PlanTable {
  std::string row_term, column_term;
  std::vector<std::string> rows, columns;
  std::vector<std::optional<search::PlannedRun>> cells;  ///< row by row
  std::string objective;
  std::vector<std::string> warnings;
  std::string version;
};

std::string to_text(const PlanTable& table, const TextStyle& style);
std::string to_json(const PlanTable& table);
std::string to_csv(const PlanTable& table);

}  // namespace llmcalc::render
