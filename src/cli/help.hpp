// What people, shells and man know of the program, made from the tables of verbs and flags and the presets' names.
#pragma once

#include "api/verbs.hpp"

#include <string>
#include <string_view>

namespace llmcalc::cli {

/// `llmcalc`, `llmcalc -h`: the verbs.
std::string program_help();

/// `llmcalc VERB --help`: its options by group.
std::string verb_help(const api::Verb& verb, const std::vector<api::Flag>& flags);

/// `llmcalc VERB -h`: what most questions need, on one screen.
std::string short_help(const api::Verb& verb, const std::vector<api::Flag>& flags);

/// The completions of a shell: "bash", "zsh" or "fish".
/// \throws quantity::BadInput for another
std::string completion(std::string_view shell);

/// A page for man: "llmcalc", "llmcalc-fit"; "list": the names of all pages, one a line.
/// \throws quantity::BadInput for another
std::string manual(std::string_view page);

}  // namespace llmcalc::cli
