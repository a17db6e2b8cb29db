// The terms that a search chooses.
#pragma once

#include "spec/run_choices.hpp"

#include <span>
#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::read {

/// How one of the values of a term becomes one of the choices.
struct ChoiceTerm {
  std::string_view name;
  void (*add)(spec::RunChoices& choices, const spec::Question& said);
};

std::span<const ChoiceTerm> choice_terms();

/// The name of the term that a given word names, or the word of a shorthand.
std::string_view canonical(std::string_view word);

}  // namespace llmcalc::read
