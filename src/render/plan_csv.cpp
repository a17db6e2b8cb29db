// `llmcalc plan` for spreadsheets.
#include "render/foreign.hpp"
#include "render/inner/plan_cells.hpp"
#include "render/plan.hpp"

namespace llmcalc::render {
namespace {

constexpr std::string_view figures = ",needed_bytes,step_time_s,total_s,cost_usd,energy_kwh\n";

std::string figures_of(const search::PlannedRun& run) {
  std::string line = "," + std::to_string(quantity::in_bytes(run.memory)) + "," +
                     exact(quantity::in_seconds(run.step)) + "," + exact(quantity::in_seconds(run.total)) + ",";
  if (run.cost) line += exact(quantity::in_dollars(*run.cost));
  line += ",";
  if (run.energy) line += exact(quantity::in_kilowatt_hours(*run.energy));
  return line + "\n";
}

std::string lines(const std::vector<PlanRow>& rows, std::string_view list) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text.append(list).append(",").append(std::to_string(i + 1));
    for (const auto& value : rows[i].values) text.append(",").append(shown(value, Medium::csv));
    text.append(figures_of(rows[i].run));
  }
  return text;
}

}  // namespace

std::string to_csv(const PlanReport& report) {
  std::string text = "list,place";
  for (const auto& term : report.terms) text.append(",").append(shown(term, Medium::csv));
  return text.append(figures) + lines(report.best, "best") + lines(report.each, "each") + lines(report.front, "front");
}

std::string to_csv(const PlanTable& table) {
  std::string text = shown(table.row_term, Medium::csv) + "," + shown(table.column_term, Medium::csv);
  text.append(figures);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& run = table.cells[r * table.columns.size() + c];
      text += shown(table.rows[r], Medium::csv) + "," + shown(table.columns[c], Medium::csv) +
              (run ? figures_of(*run) : ",,,,,\n");
    }
  }
  return text;
}

}  // namespace llmcalc::render
