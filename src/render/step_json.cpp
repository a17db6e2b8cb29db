#include "render/step_json.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {

Json step_parts_json(const answer::TimeAnswer& time) {
  Json list = Json::array();
  for (const auto& part : time.step_parts) {
    list.push_back({{"id", part.id},
                    {"label", part.label},
                    {"seconds", finite(in_seconds(part.time))},
                    {"share", finite(part.time / time.step)}});
  }
  return list;
}

}  // namespace llmcalc::render
