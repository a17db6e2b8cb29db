// Model, method and algorithm of torchtune's recipes.
#pragma once

#include "dialects/core/sheet.hpp"

#include <string>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::dialects {

/// What stands behind the last dot of "torchtune.models.llama3_1.lora_llama3_1_8b", in lower case.
std::string component_name(std::string_view component);

/// \throws quantity::BadInput for a recipe that trains nothing
void take_torchtune_model(Sheet& sheet);

/// The builder of a model that is known by its name, with the method; empty for others.
std::string torchtune_component(const spec::Question& question);

}  // namespace llmcalc::dialects
