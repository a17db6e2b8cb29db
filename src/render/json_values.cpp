#include "render/inner/json_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace llmcalc::render {

Json json_answer(std::string_view kind, std::string_view version) {
  return {{"schema_version", 1}, {"kind", kind}, {"tool", {{"name", "llmcalc"}, {"version", version}}}};
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json finite(double value) {
  if (!std::isfinite(value)) throw std::domain_error("a figure of the answer is not a finite number");
  return value;
}

Json finite_or_null(std::optional<double> value) { return value ? finite(*value) : Json(); }

void add_explanation(Json& object, const answer::Explanation& why) {
  object["formula"] = text_or_null(why.formula);
  object["numbers"] = text_or_null(why.numbers);
  object["source"] = text_or_null(why.source);
}

std::string identifier(std::string_view words) {
  std::string id(words);
  std::ranges::replace(id, ' ', '_');
  return id;
}

std::string dump(const Json& answer) {
  constexpr int indent = 2;
  return answer.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace llmcalc::render
