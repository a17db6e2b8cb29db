// `llmcalc scale` for programs; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/inner/scale_words.hpp"
#include "render/scaling.hpp"

namespace llmcalc::render {
namespace {

/// The value of a line, or null when the question does not lead to it.
Json value_of(const laws::ScaleAnswer& answer, std::string_view id) {
  const auto* line = laws::find_line(answer, id);
  return line == nullptr ? Json() : finite(line->value);
}

Json line_object(const laws::ScaleLine& line) {
  return {{"id", line.id},
          {"label", line.label},
          {"value", finite(line.value)},
          {"text", line.text},
          {"origin", word_of(line.origin)},
          {"formula", text_or_null(line.why.formula)},
          {"numbers", text_or_null(line.why.numbers)},
          {"source", text_or_null(line.why.source)},
          {"section", words_of(line.section).id}};
}

Json point_object(const laws::FrontierPoint& point) {
  return {{"parameters", finite(point.split.params)},
          {"tokens", finite(point.split.tokens)},
          {"tokens_per_parameter", finite(point.split.tokens / point.split.params)},
          {"compute_flops", finite(point.split.compute())},
          {"loss", finite_or_null(point.loss)},
          {"best", point.best},
          {"same_loss_compute_ratio", finite_or_null(point.same_loss_compute)}};
}

}  // namespace

std::string to_json(const laws::ScaleAnswer& answer, std::string_view version) {
  Json object = json_answer("scale", version);
  object["parameters"] = value_of(answer, "params");
  object["tokens"] = value_of(answer, "tokens");
  object["tokens_per_parameter"] = value_of(answer, "tokens_per_parameter");
  object["compute_flops"] = value_of(answer, "compute_flops");
  object["pflop_days"] = value_of(answer, "compute_pflop_days");
  object["gpu_hours"] = value_of(answer, "gpu_hours");
  object["total_seconds"] = value_of(answer, "time_s");
  object["lines"] = json_list(answer.lines, line_object);
  object["assumptions"] = answer.assumptions;
  object["law"] = facts(answer.law).name;
  object["loss"] = value_of(answer, "loss");
  object["cost_usd"] = value_of(answer, "cost_usd");
  object["frontier"] = answer.frontier ? json_list(answer.frontier->points, point_object) : Json::array();
  object["warnings"] = answer.warnings;
  return dump(object);
}

}  // namespace llmcalc::render
