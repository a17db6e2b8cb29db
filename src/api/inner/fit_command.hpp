// The command that answers, typed as it is printed, with a run that a search found.
#pragma once

#include "read/plan_words.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

/// What a search chooses of a run, in the order of a report.
inline constexpr std::array<std::string_view, 20> chosen_terms{"framework",
                                                               "gpu",
                                                               "gpus",
                                                               "dp",
                                                               "tp",
                                                               "sp",
                                                               "pp",
                                                               "vpp",
                                                               "schedule",
                                                               "cp",
                                                               "cp_exchange",
                                                               "ep",
                                                               "etp",
                                                               "sharding",
                                                               "micro_batch",
                                                               "recompute",
                                                               "offload",
                                                               "node_dispatch",
                                                               "expert_overlap",
                                                               "cuda_graph"};

/// Where the words of a command are looked up.
struct FitSource {
  const read::Catalogue& catalogue;
  const std::optional<read::ConfigText>& config;
  std::string presets;      ///< the folder that was named, if any
  std::string calibration;  ///< and the file
};

/// A plan's words as they were given.
struct AskedWords {
  const std::vector<read::Given>& words;
  FitSource source;
};

/// "llmcalc fit ..." with every word that the question needs to be resolved to itself again.
/// \param varied    of the words that hold several values, those of this run
/// \param question  the run
std::string fit_command(const AskedWords& asked, const std::vector<read::Given>& varied,
                        const spec::Question& question);

}  // namespace llmcalc::api
