// The textbook, and programs of which no more is known than it says.
#pragma once

#include "frameworks/spaces.hpp"
#include "frameworks/textbook.hpp"

namespace llmcalc::frameworks {

inline constexpr Row textbook_rows[] = {
    {spec::Framework::generic,
     {"generic"},
     States::textbook,
     Engine::own,
     &textbook_profile,
     textbook_space,
     MemoryRuns::textbook,
     TimeRuns::few},
    {spec::Framework::pax,
     {"pax", "paxml"},
     States::torch,
     Engine::own,
     &pax_profile,
     textbook_space,
     MemoryRuns::textbook,
     TimeRuns::few},
    {spec::Framework::maxtext,
     {"maxtext"},
     States::torch,
     Engine::own,
     &textbook_profile,
     textbook_space,
     MemoryRuns::textbook,
     TimeRuns::few},
};

}  // namespace llmcalc::frameworks
