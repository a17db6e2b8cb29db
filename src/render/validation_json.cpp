// `llmcalc validate` for programs; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/validation.hpp"
#include "spec/names.hpp"

namespace llmcalc::render {
namespace {

using trust::Judgement;

/// Without rows there are no errors, neither small nor large.
Json summary_json(const trust::Summary& s) {
  const auto if_any = [&](double value) { return s.n == 0 ? Json() : finite(value); };
  return {{"n", s.n},
          {"mean_abs_pct", if_any(s.mean_abs_pct)},
          {"median_abs_pct", if_any(s.median_abs_pct)},
          {"p95_abs_pct", if_any(s.p95_abs_pct)},
          {"max_abs_pct", if_any(s.max_abs_pct)},
          {"bias_pct", if_any(s.bias_pct)},
          {"inside_bar_pct", if_any(s.inside_bar_pct)}};
}

Json group_json(const trust::RowGroup& group) {
  Json object = {{"by", group.by}, {"value", group.value}};
  object.update(summary_json(group.summary));
  return object;
}

/// Bytes are whole numbers.
Json number_json(const trust::Comparison& row, double value) {
  return is_memory(row.measure) ? Json(static_cast<std::int64_t>(value)) : finite(value);
}

Json row_json(const trust::Comparison& row) {
  return {{"id", row.id},
          {"place", row.place},
          {"quantity", spec::name_of(row.measure)},
          {"measured", number_json(row, row.measured)},
          {"predicted", number_json(row, row.predicted)},
          {"error_pct", finite(row.error_pct())},
          {"inside_bar", row.inside_bar()}};
}

Json judged_json(const trust::JudgedRun& run) {
  return {{"id", run.id}, {"place", run.place}, {"judgement", id_of(run.judgement)}};
}

Json skipped_json(const trust::Skipped& skipped) {
  return {{"reason", skipped.reason}, {"count", skipped.count}, {"first_place", skipped.first_place}};
}

Json verdicts_json(const std::vector<trust::JudgedRun>& runs) {
  Json object = Json::object();
  for (const auto judgement :
       {Judgement::true_fit, Judgement::false_fit, Judgement::true_miss, Judgement::false_miss}) {
    object[std::string(id_of(judgement))] = count(runs, judgement);
  }
  return object;
}

}  // namespace

std::string to_json(const trust::Validation& validation, std::string_view version) {
  Json object = json_answer("validate", version);
  object["summary"] = summary_json(validation.summary);
  object["configurations"] = summary_json(validation.configurations);
  object["groups"] = json_list(validation.groups, group_json);
  object["verdicts"] = verdicts_json(validation.judged);
  object["rows"] = json_list(validation.rows, row_json);
  object["judged"] = json_list(validation.judged, judged_json);
  object["skipped"] = json_list(validation.skipped, skipped_json);
  return dump(object);
}

}  // namespace llmcalc::render
