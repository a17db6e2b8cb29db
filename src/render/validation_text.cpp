// `llmcalc validate` for people.
//
//   row      quantity         measured   predicted  error %
//   fms-025  peak_allocated  67.46 GiB   67.46 GiB     0.00
//
//   by    n  mean %  median %  p95 %  max %  bias %  in bar %
//   all   1    0.00      0.00   0.00   0.00    0.00    100.00
#include "render/foreign.hpp"
#include "render/inner/table.hpp"
#include "render/inner/validation_cells.hpp"
#include "render/validation.hpp"

namespace llmcalc::render {
namespace {

std::string row_table(const trust::Validation& validation) {
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right});
  table.add_row(row_header());
  for (const auto& row : validation.rows) table.add_row(row_cells(row));
  return table.render();
}

std::string summary_table(const trust::Validation& validation) {
  std::vector<Align> columns(summary_header().size(), Align::right);
  columns[0] = columns[1] = Align::left;
  Table table(std::move(columns));
  table.add_row(summary_header());
  for (auto& cells : summary_rows(validation)) table.add_row(std::move(cells));
  return table.render();
}

}  // namespace

std::string to_text(const trust::Validation& validation) {
  std::string text;
  if (!validation.rows.empty()) text = row_table(validation) + "\n" + summary_table(validation) + "\n";
  if (!validation.judged.empty()) text += "  verdicts: " + one_line(verdict_sentence(validation.judged)) + "\n";
  for (const auto& skipped : validation.skipped) text += "  skipped " + one_line(skipped_sentence(skipped)) + "\n";
  return text.empty() ? "  no rows\n" : on_screen(text);
}

}  // namespace llmcalc::render
