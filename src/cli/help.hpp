// The help texts, made from the tables of verbs and flags.
#pragma once

#include "api/verbs.hpp"

#include <string>

namespace llmcalc::cli {

/// `llmcalc`, `llmcalc -h`: the verbs.
std::string program_help();

/// `llmcalc VERB --help`: its options by group.
std::string verb_help(const api::Verb& verb, const std::vector<api::Flag>& flags);

/// `llmcalc VERB -h`: what most questions need, on one screen.
std::string short_help(const api::Verb& verb, const std::vector<api::Flag>& flags);

}  // namespace llmcalc::cli
