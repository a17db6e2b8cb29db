// How far answers about servers were off, by engine and by what was measured.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "spec/measurement.hpp"

namespace llmcalc::trust {

/// Nine of ten measured values lie inside.
Spread server_error_bar(spec::Engine engine, spec::Measure measure);

}  // namespace llmcalc::trust
