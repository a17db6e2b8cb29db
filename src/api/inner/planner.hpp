// The searches behind one `plan`: which questions are asked, and in which order.
#pragma once

#include "api/asked.hpp"
#include "api/inner/fit_command.hpp"
#include "api/inner/plan_options.hpp"
#include "read/plan_words.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::api {

/// Words with one more, which replaces the words of its term.
std::vector<read::Given> with(std::vector<read::Given> words, const std::string& term, const std::string& text);

class Planner {
 public:
  Planner(const PlanOptions& options, const Sources& sources, const std::optional<read::ConfigText>& config)
      : options_(options), sources_(sources), config_(config) {}

  /// The runs to compare. Where nobody says how many accelerators there are, the fewest of each type with which any
  /// layout is within the limits.
  read::PlanWords bases(const std::vector<read::Given>& words) const;

  search::PlanSpace space(const read::PlanWords& plan) const;

  /// What a command for one of the runs is checked against.
  FitSource source() const { return {sources_.catalogue, config_, options_.presets, options_.calibration}; }

  /// Whether any layout is within the limits.
  bool fits(const std::vector<read::Given>& words) const;

  /// The words with the largest value of --largest with which any layout is within the limits.
  std::vector<read::Given> grown(const std::vector<read::Given>& words) const;

 private:
  read::PlanWords resolve(const std::vector<read::Given>& words) const;
  void leave_out_unknown(read::PlanWords& plan) const;
  bool fits(const read::PlanWords& plan) const;
  std::optional<std::int64_t> fewest(const std::vector<read::Given>& words) const;
  bool fits_with(const std::vector<read::Given>& words, std::int64_t gpus) const;

  const PlanOptions& options_;
  const Sources& sources_;
  const std::optional<read::ConfigText>& config_;
};

}  // namespace llmcalc::api
