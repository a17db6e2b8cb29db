// From the words of a plan to the runs that it compares and to what it may choose.
#pragma once

#include "read/resolve.hpp"
#include "spec/run_choices.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// A run of which the layout is open: no choice is made yet, but accelerators, global batch and the like are set.
struct PlanBase {
  std::vector<Given> varied;  ///< the words that tell it from the other runs
  Resolved resolved;
};

struct PlanWords {
  std::vector<PlanBase> bases;       ///< one for each combination of the words that have several values
  spec::RunChoices choices;          ///< --tp 1,2,4: what the search may choose
  bool counts_accelerators = false;  ///< somebody said how many there are
};

/// A word may hold several values between commas; `--gpu any` stands for every accelerator that can carry the run.
/// \throws quantity::BadInput naming the place of what is wrong or missing
PlanWords resolve_plan(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                       const Catalogue& catalogue);

/// True for the terms that a search chooses: tp, pp, micro_batch, ...
bool is_choice(std::string_view term);

}  // namespace llmcalc::read
