#include "render/inner/json_question.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {

Json question_json(const std::vector<EchoLine>& lines) {
  Json object = Json::object();
  for (const auto& line : lines) {
    object[line.term] = {{"value", text_or_null(line.value)},
                         {"origin", text_or_null(line.origin)},
                         {"where", text_or_null(line.where)}};
  }
  return object;
}

}  // namespace llmcalc::render
