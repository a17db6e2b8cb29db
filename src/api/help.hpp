// Texts that people read of the program in the place of an answer, made from the tables of verbs and flags.
#pragma once

#include "api/verbs.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace llmcalc::api {

/// `llmcalc`, `llmcalc -h`: the verbs.
std::string program_help();

/// `llmcalc VERB --help`: its options by group.
std::string verb_help(const Verb& verb, const std::vector<Flag>& flags);

/// Version or help, where a line asks for nothing else; nothing where it is a question.
/// \param words  as spelled_out() has them
/// \pre there is one
std::optional<std::string> told_of_program(std::span<const std::string> words);

}  // namespace llmcalc::api
