// The words of a command line that belong to the vocabulary of a run.
#pragma once

#include "cli/arguments.hpp"
#include "read/given.hpp"
#include "read/resolve.hpp"

#include <optional>
#include <vector>

namespace llmcalc::cli {

std::vector<read::Given> words_of(const Arguments& arguments);

/// The same of a server.
std::vector<read::Given> serving_words_of(const Arguments& arguments);

/// The file that --config names; a folder stands for the config.json in it.
std::optional<read::ConfigText> read_config_text(const std::vector<read::Given>& words);

}  // namespace llmcalc::cli
