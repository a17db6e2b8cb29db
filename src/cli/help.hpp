// What shells and man know of the program, made from the tables of verbs and flags and the presets' names.
#pragma once

#include <string>
#include <string_view>

namespace llmcalc::cli {

/// The completions of a shell: "bash", "zsh" or "fish".
/// \throws quantity::BadInput for another
std::string completion(std::string_view shell);

/// A page for man: "llmcalc", "llmcalc-fit"; "list": the names of all pages, one a line.
/// \throws quantity::BadInput for another
std::string manual(std::string_view page);

}  // namespace llmcalc::cli
