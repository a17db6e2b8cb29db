#include "render/error.hpp"
#include "render/inner/json_values.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {

std::string to_json(const quantity::BadInput& error, std::string_view version) {
  Json object = json_answer("error", version);
  object["place"] = error.place();
  object["problem"] = error.problem();
  object["hint"] = text_or_null(error.hint());
  return dump(object);
}

}  // namespace llmcalc::render
