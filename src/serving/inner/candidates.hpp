// A changed question and what comes of it, as advice and --find weigh them.
#pragma once

#include "serving/advice.hpp"

#include <span>
#include <string>

namespace llmcalc::serving {

/// Whether it carries the load that was asked for, within its limits: all requests at once, or as many a second as
/// come.
bool carries(const Deployment& deployment, const Capacity& capacity);

/// What comes of a changed question.
/// \param change  as it is typed
/// \param cost    what it costs in words
Candidate weigh(const spec::Question& question, std::string change, std::string cost);

/// The types in which weights rest that an engine's users take, the widest first.
std::span<const formats::Quant> ladder(spec::Engine engine);

}  // namespace llmcalc::serving
