// The words behind `plan`, told apart into the question and how it is searched and shown.
#pragma once

#include "api/surroundings.hpp"
#include "llmcalc/render/report.hpp"
#include "read/given.hpp"
#include "search/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

enum class PlanFormat { text, json, html, csv, markdown, junit };

/// What grows as long as any layout fits.
enum class Largest { nothing, seq, params };

struct PlanOptions {
  std::vector<read::Given> words;  ///< of the vocabulary
  std::string presets;             ///< the folder that was named, if any
  std::string calibration;         ///< and the file
  search::Objective objective = search::Objective::step_time;
  search::PlanLimits limits;
  bool strict = false;
  std::size_t best = 10;
  Largest largest = Largest::nothing;
  std::vector<std::string> table;  ///< two terms, or none
  SearchOptions search;
  PlanFormat format = PlanFormat::text;
  render::TextStyle style;
};

PlanOptions plan_options(const Arguments& arguments, const Surroundings& around);

/// "step-time", as on the command line.
std::string_view word_of(search::Objective objective);

/// \throws quantity::BadInput with the nearest word
search::Objective objective_of(std::string_view word);

}  // namespace llmcalc::api
