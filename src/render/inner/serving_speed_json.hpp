// The speed of a server, and what a search for a faster one found, in JSON.
#pragma once

#include "render/inner/json_values.hpp"
#include "search/server_plan.hpp"

namespace llmcalc::render {

Json speed_json(const serving::Speed& speed);
Json plans_json(const search::ServerPlans& plans);

}  // namespace llmcalc::render
