// What the verbs that show presets have in common: `list`, `list PART`, and `show NAME` or just NAME.
#pragma once

#include "cli/arguments.hpp"
#include "cli/outcome.hpp"
#include "llmcalc/quantity/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace llmcalc::cli {

struct PresetOptions {
  std::string name = {};  ///< empty: a list
  bool alone = false;     ///< the name stands without "show"
  std::string part = {};  ///< of the names in the list, in lower case; empty: all
  bool json = false;
};

/// Whether any of the names holds the part that was asked for.
bool is_listed(const PresetOptions& options, const std::vector<std::string>& names);

/// \throws quantity::BadInput that the list is empty
void refuse_empty(const PresetOptions& options, std::size_t listed);

/// An error about a name, with the action that was meant where the word may be one: "lst".
quantity::BadInput meant_action(const PresetOptions& options, const quantity::BadInput& error);

PresetOptions setup_preset_verb(const Arguments& arguments);

/// An answer in the form asked for.
/// \tparam Answer  something that the render room has to_text() and to_json() for
template <class Answer>
Outcome show(const Answer& answer, bool json) {
  return {.answer = json ? to_json(answer, LLMCALC_VERSION) : to_text(answer)};
}

}  // namespace llmcalc::cli
