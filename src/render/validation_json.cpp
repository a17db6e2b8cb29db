#include "llmcalc/render/validation.hpp"
#include "render/json_values.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {
namespace {

Json summary_json(const answer::Summary& s) {
  return {{"n", s.n},
          {"mean_abs_pct", finite(s.mean_abs_pct)},
          {"median_abs_pct", finite(s.median_abs_pct)},
          {"p95_abs_pct", finite(s.p95_abs_pct)},
          {"max_abs_pct", finite(s.max_abs_pct)},
          {"bias_pct", finite(s.bias_pct)},
          {"inside_bar_pct", finite(s.inside_bar_pct)}};
}

Json row_json(const answer::Comparison& row) {
  return {{"id", row.id},
          {"quantity", row.quantity},
          {"measured", finite(row.measured)},
          {"predicted", finite(row.predicted)},
          {"error_pct", finite(row.error_pct())},
          {"inside_bar", row.inside_bar()}};
}

Json groups_json(const std::vector<answer::Group>& groups) {
  Json list = Json::array();
  for (const auto& group : groups) {
    Json object = {{"by", group.by}, {"value", group.value}};
    object.update(summary_json(group.summary));
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace

std::string to_json(const answer::Validation& v, std::string_view version) {
  Json json = json_answer("validate", version);
  json["summary"] = summary_json(v.summary);
  json["groups"] = groups_json(v.groups);
  json["verdicts"] = {{"true_fit", v.verdicts.true_fit},
                      {"false_fit", v.verdicts.false_fit},
                      {"true_miss", v.verdicts.true_miss},
                      {"false_miss", v.verdicts.false_miss}};
  json["rows"] = Json::array();
  for (const auto& row : v.rows) json["rows"].push_back(row_json(row));
  json["skipped"] = Json::array();
  for (const auto& skipped : v.skipped) {
    json["skipped"].push_back({{"reason", skipped.reason}, {"count", skipped.count}});
  }
  return dump(json);
}

}  // namespace llmcalc::render
