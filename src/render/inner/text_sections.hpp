// The sections of the text answer, in the order in which they are printed.
#pragma once

#include "llmcalc/render/report.hpp"

#include <string>

namespace llmcalc::render {

/// One line that answers the question, and one with the error bar.
std::string verdict_section(const Report& report, const TextStyle& style);

/// What is alive at the peak.
std::string ledger_section(const Report& report, const TextStyle& style);

/// When the memory peaks: the phases of a step, the first step against the steady ones.
std::string phases_section(const Report& report, const TextStyle& style);

/// A bar a block of layers through the step, when the style asks for it.
std::string timeline_section(const Report& report, const TextStyle& style);

/// How much room is left, or what would make it fit.
std::string advice_section(const Report& report, const TextStyle& style);

/// Parameters, and FLOPs under three conventions.
std::string compute_section(const Report& report, const TextStyle& style);

/// Where the time of a step goes.
std::string step_section(const Report& report, const TextStyle& style);

/// Tokens, utilization, duration and cost.
std::string time_section(const Report& report, const TextStyle& style);

/// What was assumed, and what is not modelled.
std::string notes_section(const Report& report, const TextStyle& style);

}  // namespace llmcalc::render
