// `llmcalc plan` for programs; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/inner/plan_cells.hpp"
#include "render/plan.hpp"

namespace llmcalc::render {
namespace {

Json row_object(const PlanReport& report, const PlanRow& row) {
  Json terms = Json::object();
  for (std::size_t i = 0; i < report.terms.size(); ++i) terms[report.terms[i]] = row.values[i];
  return {{"figures", run_object(row.run)}, {"run", std::move(terms)}};
}

Json rows(const PlanReport& report, const std::vector<PlanRow>& all) {
  return json_list(all, [&](const PlanRow& row) { return row_object(report, row); });
}

Json launch_object(const launch::Launch& launch) {
  return {{"framework", launch.framework}, {"command", launch.command}, {"beyond", launch.beyond}};
}

}  // namespace

std::string to_json(const PlanReport& report) {
  Json object = json_answer("plan", report.version);
  object["objective"] = report.objective;
  object["layouts"] = report.looked_at;
  object["layouts_that_fit"] = report.fitting;
  object["capacity_bytes"] = report.estimate ? Json(quantity::in_bytes(report.estimate->verdict.capacity)) : Json();
  object["mfu"] = report.estimate ? finite(report.estimate->compute.mfu) : Json();
  object["largest_term"] = text_or_null(report.largest_term);
  object["largest_value"] = text_or_null(report.largest_value);
  object["best"] = rows(report, report.best);
  object["each"] = rows(report, report.each);
  object["front"] = rows(report, report.front);
  object["fit_command"] = text_or_null(report.fit_command);
  object["launch"] = json_list(report.launch, launch_object);
  object["assumptions"] = report.assumptions;
  object["warnings"] = report.warnings;
  return dump(object);
}

std::string to_json(const PlanTable& table) {
  Json object = json_answer("plan_table", table.version);
  object["objective"] = table.objective;
  object["row_term"] = table.row_term;
  object["column_term"] = table.column_term;
  object["cells"] = Json::array();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& run = table.cells[r * table.columns.size() + c];
      object["cells"].push_back(
          {{"row", table.rows[r]}, {"column", table.columns[c]}, {"best", run ? run_object(*run) : Json()}});
    }
  }
  object["warnings"] = table.warnings;
  return dump(object);
}

}  // namespace llmcalc::render
