// Plans as CSV, and the best of each pair of values.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/answers.hpp"
#include "render/foreign.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

namespace llmcalc::render {
namespace {

/// The time of a step, and the memory that it takes in GiB.
std::string cell_text(const std::optional<search::PlannedRun>& run) {
  if (!run) return "-";
  return fmt::format("{} {:.1f}", quantity::format_duration(run->step), quantity::in_gib(run->memory));
}

/// \param turned  rows and columns in each other's place
std::string grid_of(const PlanTable& table, const TextStyle& style, bool turned) {
  const auto& rows = turned ? table.columns : table.rows;
  const auto& columns = turned ? table.rows : table.columns;
  std::vector<Align> aligns(columns.size() + 1, Align::right);
  aligns.front() = Align::left;
  Table grid(aligns);
  std::vector<std::string> head{(turned ? table.column_term : table.row_term) + " \\ " +
                                (turned ? table.row_term : table.column_term)};
  quantity::append(head, columns);
  for (auto& cell : head) cell = paint(cell, Ink::dim, style);
  grid.add_row(head);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells{rows[r]};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto at = turned ? c * rows.size() + r : r * columns.size() + c;
      cells.push_back(cell_text(table.cells[at]));
    }
    grid.add_row(std::move(cells));
  }
  return grid.render();
}

constexpr std::string_view figures = ",needed_bytes,step_time_s,total_s,cost_usd,energy_kwh\n";

std::string figures_of(const search::PlannedRun& run) {
  std::string line = "," + std::to_string(quantity::in_bytes(run.memory)) + "," +
                     fmt::format("{}", quantity::in_seconds(run.step)) + "," +
                     fmt::format("{}", quantity::in_seconds(run.total)) + ",";
  if (run.cost) line += fmt::format("{}", quantity::in_dollars(*run.cost));
  line += ",";
  if (run.energy) line += fmt::format("{}", quantity::in_kilowatt_hours(*run.energy));
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

std::string to_text(const PlanTable& table, const TextStyle& style) {
  auto grid = grid_of(table, style, false);
  if (is_too_wide(grid)) grid = grid_of(table, style, true);
  return on_screen("time of a step and GiB of the best layout by " + table.objective + "\n\n" + grid, style);
}

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
