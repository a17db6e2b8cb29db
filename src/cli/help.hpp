// The help texts, made from the tables of verbs and flags.
#pragma once

#include "cli/verb.hpp"

#include <string>

namespace llmcalc::cli {

/// `llmcalc --help`: the verbs.
std::string program_help();

/// `llmcalc VERB --help`: its options by group.
std::string verb_help(const Verb& verb, const std::vector<Flag>& flags);

}  // namespace llmcalc::cli
