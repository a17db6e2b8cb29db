// `llmcalc plan` for people.
//
//   best of 1,482,624 layouts, 291,840 of which fit, on 64 x a100-80: 9.84 s a step, 38 days, MFU 51 %
//
//      step    memory    tp  pp  dp  micro_batch
//   1  9.84 s  71.2 GiB  8   4   2   1
//   2  9.91 s  64.0 GiB  8   4   2   1
#include "llmcalc/quantity/format.hpp"
#include "llmcalc/render/plan.hpp"
#include "render/plan_cells.hpp"
#include "render/style.hpp"
#include "render/table.hpp"
#include "render/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

/// Terms whose value is the same in all rows are told only where the search chose it.
std::vector<std::size_t> telling_columns(const PlanReport& report) {
  std::vector<std::size_t> columns;
  const auto& first = report.best.front().values;
  for (std::size_t i = 0; i < report.terms.size(); ++i) {
    const auto differs = [&](const PlanRow& row) { return row.values[i] != first[i]; };
    const bool varies = std::ranges::any_of(report.best, differs) || std::ranges::any_of(report.each, differs) ||
                        std::ranges::any_of(report.front, differs);
    if (varies || is_told(report.terms[i], first[i])) columns.push_back(i);
  }
  return columns;
}

class PlanText {
 public:
  PlanText(const PlanReport& report, const TextStyle& style)
      : report_(report), style_(style), columns_(telling_columns(report)) {}

  std::string table(const std::vector<PlanRow>& rows, bool numbered) const {
    Table table(alignments());
    table.add_row(head());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.add_row(cells(rows[i], numbered ? std::to_string(i + 1) : std::string()));
    }
    return table.render();
  }

 private:
  bool priced() const { return report_.best.front().run.cost.has_value(); }

  std::vector<Align> alignments() const {
    std::vector<Align> aligns(priced() ? 5 : 4, Align::right);
    aligns.insert(aligns.end(), columns_.size(), Align::left);
    return aligns;
  }

  std::vector<std::string> head() const {
    std::vector<std::string> cells{"", "step", "run", "memory"};
    if (priced()) cells.emplace_back("cost");
    for (const std::size_t i : columns_) cells.push_back(short_name(report_.terms[i]));
    for (auto& cell : cells) cell = paint(cell, Ink::dim, style_);
    return cells;
  }

  std::vector<std::string> cells(const PlanRow& row, std::string number) const {
    std::vector<std::string> cells{std::move(number), quantity::format_duration(row.run.step),
                                   quantity::format_duration(row.run.total), quantity::format_gib(row.run.memory)};
    if (priced()) cells.push_back(row.run.cost ? quantity::format_money(*row.run.cost) : "-");
    for (const std::size_t i : columns_) cells.push_back(row.values[i]);
    return cells;
  }

  const PlanReport& report_;
  const TextStyle& style_;
  std::vector<std::size_t> columns_;
};

/// "64 x h100-sxm"
std::string machine_of(const PlanReport& report) {
  const auto value = [&](std::string_view term) {
    const auto at = std::ranges::find(report.terms, term) - report.terms.begin();
    return report.best.front().values[static_cast<std::size_t>(at)];
  };
  return value("gpus") + " x " + value("gpu");
}

std::string headline(const PlanReport& report) {
  const auto& run = report.best.front().run;
  const auto& estimate = *report.estimate;
  std::string line =
      fmt::format("best of {} layouts, {} of which fit, on {}: {} a step, {}", quantity::format_count(report.looked_at),
                  quantity::format_count(report.fitting), machine_of(report), quantity::format_duration(run.step),
                  quantity::format_duration(run.total));
  if (run.cost) line += ", " + quantity::format_money(*run.cost);
  line += fmt::format(", MFU {}, {} of {}", quantity::format_percent(estimate.compute.mfu),
                      quantity::format_gib(run.memory), quantity::format_gib(estimate.verdict.capacity));
  if (estimate.verdict.kind == trust::VerdictKind::tight) line += " (tight)";
  constexpr std::size_t indent = 2;
  return wrapped(line, 0, indent) + "\n";
}

/// So many of a list, both ends among them.
std::vector<PlanRow> thinned(const std::vector<PlanRow>& rows, std::size_t most) {
  if (rows.size() <= most || most < 2) return rows;
  std::vector<PlanRow> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(rows[i * (rows.size() - 1) / (most - 1)]);
  return some;
}

std::string front_text(const PlanReport& report, const PlanText& text, const TextStyle& style) {
  constexpr std::size_t most = 12;
  std::string head = "no layout takes less memory, time and cost at once than ";
  head += report.front.size() > most ? fmt::format("these {} of {} (--format csv has all)", most, report.front.size())
                                     : std::string("these");
  return "\n" + paint(head, Ink::heading, style) + "\n\n" + text.table(thinned(report.front, most), false);
}

std::string launch_text(const PlanReport& report, const TextStyle& style) {
  std::string text;
  for (const launch::Launch& line : report.launch) {
    text += "\n" + paint(line.framework, Ink::heading, style) + "\n" + line.command + "\n";
    for (const auto& what : line.beyond) text += paint("# not by these options: " + what, Ink::dim, style) + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const PlanReport& report, const TextStyle& style) {
  if (report.best.empty()) {
    if (report.looked_at == 0) {
      return "no layout is legal with what is held: degrees must divide accelerators, heads, layers and global batch\n";
    }
    return fmt::format("none of {} layouts fits\n", quantity::format_count(report.looked_at));
  }
  const PlanText text(report, style);
  std::string answer = paint(headline(report), Ink::heading, style);
  if (!report.largest_term.empty())
    answer += "the largest that fits: " + report.largest_term + " " + report.largest_value + "\n";
  answer += "\n" + text.table(report.best, true);
  if (!report.each.empty()) {
    answer += "\n" + paint("the best of each", Ink::heading, style) + "\n\n" + text.table(report.each, true);
  }
  answer += front_text(report, text, style);
  answer += "\n" + paint("the best in full", Ink::heading, style) + "\n" + report.fit_command + "\n";
  return answer + launch_text(report, style);
}

namespace {

/// The figure that the search made small, and what it takes.
std::string cell_text(const std::optional<search::PlannedRun>& run) {
  if (!run) return "-";
  return quantity::format_duration(run->step) + " " + quantity::format_gib(run->memory);
}

}  // namespace

std::string to_text(const PlanTable& table, const TextStyle& style) {
  std::vector<Align> aligns(table.columns.size() + 1, Align::right);
  aligns.front() = Align::left;
  Table grid(aligns);
  std::vector<std::string> head{table.row_term + " \\ " + table.column_term};
  head.insert(head.end(), table.columns.begin(), table.columns.end());
  for (auto& cell : head) cell = paint(cell, Ink::dim, style);
  grid.add_row(head);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> cells{table.rows[r]};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      cells.push_back(cell_text(table.cells[r * table.columns.size() + c]));
    }
    grid.add_row(std::move(cells));
  }
  return "time of a step and memory of the best layout by " + table.objective + "\n\n" + grid.render();
}

}  // namespace llmcalc::render
