// Lists of JSON objects.
#pragma once

#include "render/inner/json_values.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {

/// A list of what `to_object` makes of every item.
template <class Items, class ToObject>
Json json_list(const Items& items, ToObject to_object) {
  Json objects = Json::array();
  for (const auto& item : items) objects.push_back(to_object(item));
  return objects;
}

}  // namespace llmcalc::render
