// `llmcalc plan` for people.
//
//   best of 1,482,624 layouts, 291,840 of which fit, on 64 x a100-80: 9.84 s a step, 38 days, MFU 51 %
//
//      step    GiB    layout
//   1  9.84 s  71.20  dp 2, tp 8 sp, pp 4, micro-batch 1
//   2  9.91 s  64.00  dp 4, tp 8, pp 2, micro-batch 1
#include "render/plan.hpp"

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace llmcalc::render {
namespace {

/// Of a term that is only on or off: its value says nothing beside its name.
bool is_switched_on(std::string_view term, std::string_view value) {
  return value == "1" && (term == "node_dispatch" || term == "expert_overlap");
}

constexpr std::array<std::string_view, 2> always_told{"micro_batch", "dp"};
constexpr std::array<std::string_view, 2> never_told{"gpu", "gpus"};
/// Of what is not used, or is as it always is.
constexpr std::array<std::string_view, 6> unused{"", "0", "1", "none", "1f1b", "ring"};

/// Whether a value that all rows share is worth a column: one of a way to be parallel that is used.
bool is_told(std::string_view term, std::string_view value) {
  using quantity::contains;
  return contains(always_told, term) || is_switched_on(term, value) ||
         (!contains(never_told, term) && !contains(unused, value));
}

/// A term as a layout says it, and what it is, for the legend.
struct LayoutTerm {
  std::string_view term;
  std::string_view word;
  std::string_view meaning;  ///< empty where the word says it
};
constexpr std::array layout_terms{
    LayoutTerm{"dp", "dp", "data-parallel copies"},
    LayoutTerm{"tp", "tp", "ranks that share each matrix"},
    LayoutTerm{"sp", "sp", "and its norms"},
    LayoutTerm{"pp", "pp", "pipeline stages"},
    LayoutTerm{"vpp", "vpp", "pieces of a stage"},
    LayoutTerm{"cp", "cp", "ranks that share a sequence"},
    LayoutTerm{"ep", "ep", "ranks that share experts"},
    LayoutTerm{"etp", "etp", "ranks that share an expert"},
    LayoutTerm{"micro_batch", "micro-batch", ""},
    LayoutTerm{"cuda_graph", "graphs", ""},
};

std::string short_name(std::string_view term) {
  const auto* known = quantity::find_or_null(layout_terms, term, &LayoutTerm::term);
  return std::string(known == nullptr ? term : known->word);
}

/// Values that say by themselves what they are of.
constexpr std::array<std::string_view, 5> self_evident{"schedule", "cp_exchange", "sharding", "model", "gpu"};

std::string degree_words(std::string_view term, const std::string& value) {
  if (quantity::contains(self_evident, term)) return value;
  if (term == "sp") return "sp";
  if (term == "node_dispatch") return "dispatch by node";
  if (term == "expert_overlap") return "experts overlap";
  if (term == "gpus") return "x" + value;
  return short_name(term) + " " + value;
}

/// What belongs to the word before it: "tp 4 sp", "pp 4 vpp 2", "8 x a100-80".
bool is_part_of_last(std::string_view term) {
  constexpr std::array<std::string_view, 6> parts{"gpus", "sp", "vpp", "schedule", "cp_exchange", "etp"};
  return quantity::contains(parts, term);
}

/// Which terms tell rows apart or say how a layout is parallel; what all rows share and nobody uses is left out.
std::vector<std::size_t> telling_terms(const PlanReport& report) {
  std::vector<std::size_t> terms;
  const auto& first = report.best.front().values;
  for (std::size_t i = 0; i < report.terms.size(); ++i) {
    const auto differs = [&](const PlanRow& row) { return row.values[i] != first[i]; };
    const bool varies = std::ranges::any_of(report.best, differs) || std::ranges::any_of(report.each, differs) ||
                        std::ranges::any_of(report.front, differs);
    if (varies || is_told(report.terms[i], first[i])) terms.push_back(i);
  }
  return terms;
}

/// A layout in a few words: "dp 4, tp 2 sp, zero1, micro-batch 2".
std::string layout_words(const PlanReport& report, const PlanRow& row, const std::vector<std::size_t>& terms) {
  std::string words;
  for (const std::size_t i : terms) {
    const auto& term = report.terms[i];
    const auto& value = row.values[i];
    const bool always = term == "micro_batch" || term == "gpus" || is_switched_on(term, value);
    if (!always && quantity::contains(unused, value)) continue;
    if (!words.empty()) words += is_part_of_last(term) ? " " : ", ";
    words += degree_words(term, value);
  }
  return words;
}

/// "dp data-parallel copies, tp ranks that share each matrix": of the words that some layout says.
std::string legend_of(const PlanReport& report) {
  const auto is_used = [&](const LayoutTerm& row) {
    const auto at = std::ranges::find(report.terms, row.term) - report.terms.begin();
    const auto uses = [&](const PlanRow& run) {
      return !quantity::contains(unused, run.values[static_cast<std::size_t>(at)]);
    };
    return !row.meaning.empty() && at < std::ssize(report.terms) &&
           (std::ranges::any_of(report.best, uses) || std::ranges::any_of(report.each, uses) ||
            std::ranges::any_of(report.front, uses));
  };
  const auto told = [](const LayoutTerm& row) { return fmt::format("{} {}", row.word, row.meaning); };
  return quantity::joined(quantity::mapped_if(layout_terms, told, is_used), ", ");
}

class PlanText {
 public:
  PlanText(const PlanReport& report, const TextStyle& style)
      : report_(report), style_(style), terms_(telling_terms(report)), unit_(unit()), priced_(prices_differ()) {}

  std::string table(const std::vector<PlanRow>& rows, bool numbered) const {
    std::vector<Align> aligns(priced_ ? 4 : 3, Align::right);
    aligns.push_back(Align::left);
    Table table(std::move(aligns), "");
    table.wrap_last_column();
    table.add_row(head());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.add_row(cells(rows[i], numbered ? std::to_string(i + 1) : std::string()));
    }
    return table.render();
  }

 private:
  /// That of the accelerator, where there is one for all.
  MemoryUnit unit() const { return memory_unit_for(report_.estimate->verdict.capacity); }

  /// The price of a run on one kind of machine goes with its time, so a column of it would tell nothing.
  bool prices_differ() const {
    const auto& first = report_.best.front().run;
    if (!first.cost) return false;
    const auto differs = [&](const PlanRow& row) {
      constexpr double goodput = 0.01;  // failures take a little more of a longer step
      return !row.run.cost || std::abs((*row.run.cost / *first.cost) / (row.run.step / first.step) - 1.0) > goodput;
    };
    return std::ranges::any_of(report_.best, differs) || std::ranges::any_of(report_.each, differs) ||
           std::ranges::any_of(report_.front, differs);
  }

  std::vector<std::string> head() const {
    std::vector<std::string> cells{"", "step", std::string(unit_.name)};
    if (priced_) cells.emplace_back("cost");
    cells.emplace_back("layout");
    for (auto& cell : cells) cell = paint(cell, Ink::dim, style_);
    return cells;
  }

  std::vector<std::string> cells(const PlanRow& row, std::string number) const {
    std::vector<std::string> cells{std::move(number), quantity::format_duration(row.run.step),
                                   in_unit(row.run.memory, unit_)};
    if (priced_) cells.push_back(row.run.cost ? quantity::format_money(*row.run.cost) : "-");
    cells.push_back(layout_words(report_, row, terms_));
    return cells;
  }

  const PlanReport& report_;
  const TextStyle& style_;
  std::vector<std::size_t> terms_;
  MemoryUnit unit_;
  bool priced_;
};

/// "64 x h100-sxm"
std::string machine_of(const PlanReport& report) {
  const auto value = [&](std::string_view term) {
    const auto at = std::ranges::find(report.terms, term) - report.terms.begin();
    return report.best.front().values[static_cast<std::size_t>(at)];
  };
  return value("gpus") + " x " + value("gpu");
}

}  // namespace

std::string layout_words(const PlanReport& report, const PlanRow& row) {
  return layout_words(report, row, telling_terms(report));
}

std::string headline(const PlanReport& report) {
  const auto& run = report.best.front().run;
  const auto& estimate = *report.estimate;
  std::string line =
      fmt::format("best of {} layouts on {}: {} a step, {}", quantity::format_count(report.looked_at),
                  machine_of(report), quantity::format_duration(run.step), quantity::format_duration(run.total));
  if (run.cost) line += ", " + quantity::format_money(*run.cost);
  const auto unit = memory_unit_for(estimate.verdict.capacity);
  line += fmt::format(", MFU {}, {} of {} {}", quantity::format_percent(estimate.compute.mfu),
                      in_unit(run.memory, unit), in_unit(estimate.verdict.capacity, unit), unit.name);
  if (estimate.verdict.kind == trust::VerdictKind::tight) line += " (tight)";
  return line;
}

namespace {

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
  return "\n" + paint(wrapped(head, 0, 0), Ink::heading, style) + "\n\n" +
         text.table(thinned(report.front, most), false);
}

/// A command on several lines, each of which a shell continues.
std::string continued(std::string_view command) {
  constexpr std::string_view continuation = " \\\n  ";
  std::string text;
  std::size_t column = 0;
  while (!command.empty()) {
    const auto end = std::min(command.find(" --", 1), command.size());
    const auto option = command.substr(0, end);
    const bool breaks = column + option.size() + 2 > page_columns;
    text.append(breaks ? continuation : "").append(option.substr(breaks ? 1 : 0));
    column = breaks ? option.size() + 1 : column + option.size();
    command.remove_prefix(end);
  }
  return text;
}

std::string launch_text(const PlanReport& report, const TextStyle& style) {
  std::string text;
  for (const dialects::Launch& line : report.launch) {
    text += "\n" + paint(line.framework, Ink::heading, style) + "\n";
    if (!line.command.empty()) text += line.command + "\n";
    const std::string unsaid = "# no command or file of its own says " + quantity::joined(line.beyond, ", ");
    if (!line.beyond.empty()) text += paint(wrapped(unsaid, 0, 2), Ink::dim, style) + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const PlanReport& report, const TextStyle& style) {
  if (report.best.empty()) {
    if (report.looked_at == 0) {
      return "no layout is legal with what is held: degrees must divide accelerators, heads, layers and global batch\n";
    }
    return fmt::format("none of {} layouts fits\n{}", quantity::format_count(report.looked_at),
                       assumed_text(report.assumptions, style));
  }
  const PlanText text(report, style);
  constexpr std::size_t indent = 2;
  std::string answer = paint(wrapped(headline(report), 0, indent) + "\n", Ink::heading, style);
  if (!report.largest_term.empty())
    answer += "the largest that fits: " + report.largest_term + " " + report.largest_value + "\n";
  answer += "\n" + text.table(report.best, true);
  if (!report.each.empty()) {
    answer += "\n" + paint("the best of each", Ink::heading, style) + "\n\n" + text.table(report.each, true);
  }
  answer += front_text(report, text, style);
  if (const auto legend = legend_of(report); !legend.empty())
    answer += "\n" + paint(wrapped("(" + legend + ")", 0, 1), Ink::dim, style) + "\n";
  answer += "\n" + paint("the best in full", Ink::heading, style) + "\n" + continued(report.fit_command) + "\n" +
            launch_text(report, style);
  return on_screen(answer + assumed_text(report.assumptions, style), style);
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
  quantity::append(head, table.columns);
  for (auto& cell : head) cell = paint(cell, Ink::dim, style);
  grid.add_row(head);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> cells{table.rows[r]};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      cells.push_back(cell_text(table.cells[r * table.columns.size() + c]));
    }
    grid.add_row(std::move(cells));
  }
  return on_screen("time of a step and memory of the best layout by " + table.objective + "\n\n" + grid.render(),
                   style);
}

namespace {

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
