// What textbooks count, and programs of which no more is known.
#pragma once

#include "frameworks/run.hpp"
#include "llmcalc/frameworks/profile.hpp"

namespace llmcalc::frameworks {

Profile textbook_profile(const Run& run);
Profile pax_profile(const Run& run);

}  // namespace llmcalc::frameworks
