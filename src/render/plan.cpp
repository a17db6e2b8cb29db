// `llmcalc plan` for people.
//
//   FITS  best of 1,482,624 layouts on 64 x a100-80: 9.84 s a step, 38 days, MFU 51 %, 71.20 of 79.25 GiB
//
//      step    GiB    layout
//   1  9.84 s  71.20  dp 2, tp 8 sp, pp 4, micro-batch 1
//   2  9.91 s  64.00  dp 4, tp 8, pp 2, micro-batch 1

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::render {
namespace {

/// Whether a term is only on or off: its value says nothing beside its name.
bool is_switched_on(std::string_view term, std::string_view value) {
  return value == "1" && (term == "node_dispatch" || term == "expert_overlap");
}

constexpr std::array<std::string_view, 2> always_told{"micro_batch", "dp"};
constexpr std::array<std::string_view, 2> never_told{"gpu", "gpus"};
/// Values of what is not used, or is as it always is.
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
  std::string_view meaning = {};  ///< empty where the word says it
};
constexpr LayoutTerm layout_terms[] = {
#include "shown/layout_terms.inc"
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

/// Words that belong to the one before: "tp 4 sp", "pp 4 x 2", "8 x a100-80".
bool is_part_of_last(std::string_view term) {
  constexpr std::array<std::string_view, 7> parts{
      "gpus", "sp", "vpp", "schedule", "cp_exchange", "etp", "recompute_modules"};
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

constexpr std::size_t hanging = 2;

Paragraph plan_verdict(const PlanReport& report, const TextStyle& style) {
  auto lines = lines_of(wrapped(headline(report, style), 0, hanging));
  if (!report.largest_term.empty()) {
    quantity::append(
        lines, page_lines("the largest that fits: " + spec::option_of(report.largest_term) + " " + report.largest_value,
                          hanging));
  }
  quantity::append(lines, gauge(report.best.front().run.memory, report.estimate->verdict.capacity, style));
  return whole(std::move(lines));
}

/// The verdict again, beside the prompt.
Paragraph plan_last(const PlanReport& report, const TextStyle& style) {
  const auto& run = report.best.front().run;
  const auto words =
      fmt::format("{}  {}: {} a step, {}", verdict_word(report.estimate->verdict.kind, style), machine_of(report),
                  quantity::format_duration(run.step), need_words(report.estimate->verdict, style));
  return {lines_of(wrapped(words, 0, hanging)), blocks_without_end};
}

/// A table of which whole rows are left out, from the last, where the screen is full.
Paragraph rows_of(const std::string& table, std::size_t least_rows) {
  constexpr std::size_t figures_end = 12;  // before it begins every row, behind it what a layout has on further lines
  Paragraph block{lines_of(table), 0};
  for (std::size_t line = 1; line < block.lines.size(); ++line) {
    const bool ends = line + 1 == block.lines.size() || block.lines[line + 1].find_first_not_of(' ') < figures_end;
    if (ends) block.ends.push_back(line + 1);
  }
  block.least = block.ends[std::min(least_rows, block.ends.size()) - 1];
  return block;
}

/// The best of each that is compared, or the best of all and what else takes less memory.
std::pair<Paragraph, Paragraph> short_tables(const PlanReport& report, const TextStyle& style, std::size_t least_rows) {
  const PlanText text(report, style);
  const auto& all = report.each.empty() ? report.best : report.each;
  const std::size_t most_rows = report.each.empty() ? 5 : 10;
  const std::vector told(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most_rows, all.size())));
  auto best = rows_of(text.table(told, true), least_rows);
  auto others = report.front;
  std::erase_if(others, [&](const PlanRow& row) { return quantity::contains(told, row.values, &PlanRow::values); });
  if (!report.each.empty() || others.empty()) return {std::move(best), {}};
  auto lines = lines_of(text.table(thinned(others, 4), false));
  lines.front() = paint("less memory takes longer", Ink::heading, style);
  auto smaller = rows_of(quantity::joined(lines, "\n"), 1);
  smaller.ends.insert(smaller.ends.begin(), smaller.least = 0);
  return {std::move(best), std::move(smaller)};
}

/// A command names its program and needs no title; of a run without one the title says whose it is.
Paragraph short_launch(const PlanReport& report, const TextStyle& style) {
  Paragraph block{lines_of(launch_text(report, style)), 0};
  constexpr std::ptrdiff_t blank_and_title = 2;
  const auto is_command = !report.launch.empty() && !report.launch.front().command.empty();
  const auto first = block.lines.begin();
  if (!block.lines.empty()) block.lines.erase(first, first + (is_command ? blank_and_title : 1));
  block.ends = {0, block.lines.size()};
  return block;
}

Paragraph plan_legend(const PlanReport& report, const TextStyle& style) {
  const auto legend = legend_of(report);
  if (legend.empty()) return {};
  return whole(lines_of(paint(wrapped("(" + legend + ")", 0, 1), Ink::dim, style)));
}

/// "--strict: 62.3 s a step, 0.16 % slower, 65.41 GiB, dp 2, tp 4": of a run that is not the best for want of memory.
/// \param brief  without its layout, which --strict prints
std::vector<std::string> sure_lines(const PlanReport& report, const TextStyle& style, bool brief = false) {
  if (!report.sure) return {};
  const auto& [values, run] = *report.sure;
  const double slower = run.step / report.best.front().run.step - 1.0;
  const auto unit = memory_unit_for(report.estimate->verdict.capacity);
  return labelled("surely",
                  fmt::format("--strict: {} a step, {} {}, {} {}{}", quantity::format_duration(run.step),
                              quantity::format_percent(std::abs(slower)), slower < 0.0 ? "faster" : "slower",
                              in_unit(run.memory, unit), unit.name,
                              brief ? std::string() : ", " + layout_words(report, *report.sure)),
                  style);
}

/// Where the screen is too full, the sure run leaves out its layout, then the words stay unexplained, and then the next
/// best layouts are told no more.
std::string on_one_screen(const PlanReport& report, const TextStyle& style) {
  const auto warned = lines_of_warnings(report.warnings);
  const auto lines = style.lines - std::min(style.lines, warned);
  std::string text;
  for (int left_out = 0; left_out < 4; ++left_out) {
    auto [best, smaller] = short_tables(report, style, left_out > 2 ? 1 : 3);
    std::array blocks{
        plan_verdict(report, style),
        std::move(best),
        std::move(smaller),
        left_out > 1 ? Paragraph() : plan_legend(report, style),
        whole(sure_lines(report, style, left_out > 0)),
        whole(command_lines(report.fit_command, "in full", style)),
        short_launch(report, style),
        assumed_block(report.assumptions, style),
        whole(labelled("more", "--full all lists and the launch, --top 50, --format csv, json, html", style)),
        plan_last(report, style)};
    text = on_a_screen(blocks, lines);
    if (std::cmp_less_equal(std::ranges::count(text, '\n'), lines)) break;
  }
  return text;
}

/// "--max-days 62: the nearest takes 61.3 days and costs $1,234"
std::string nearest_words(const PlanReport& report) {
  const auto& run = report.nearest->run;
  const auto cost = run.cost ? " and costs " + quantity::format_money(*run.cost) : std::string();
  return fmt::format("{}: the nearest takes {}{}", report.nearest_limits, quantity::format_duration(run.total), cost);
}

std::string_view others_to_try(const PlanReport& report) {
  if (!report.counted) return {};
  return report.grows ? "--gpus 8 shares it; " : "without --gpus it finds the fewest that are enough; ";
}

std::string nothing_fits(const PlanReport& report, const TextStyle& style) {
  const auto word = verdict_word(trust::VerdictKind::does_not_fit, style);
  const auto why =
      !report.never_finishes.empty() ? report.never_finishes
      : report.looked_at == 0
          ? "no layout is legal with what is held: degrees must divide accelerators, heads, layers and global batch"
          : fmt::format("none of {} layouts fits{}{}", quantity::format_count(report.looked_at),
                        report.limited ? " within the limits" : "",
                        report.counted ? "" : ", nor does any number of accelerators up to 131,072");
  const std::string hint =
      report.nearest ? nearest_words(report) + "; without --gpus it finds the fewest that are enough"
      : !report.never_finishes.empty()
          ? "fewer accelerators fail less often; --mtbf says how often one does, --restart-time how "
            "long it takes to go on"
          : std::string(others_to_try(report)) + "llmcalc fit says what would make one layout fit";
  const auto last = lines_of(wrapped(word + "  " + why, 0, hanging));
  std::array blocks{whole(last), whole(labelled("try", hint, style)), assumed_block(report.assumptions, style),
                    Paragraph{last, last.size()}};
  return on_a_screen(blocks, style.lines);
}

}  // namespace

std::string layout_words(const PlanReport& report, const PlanRow& row) {
  return layout_words(report, row, telling_terms(report));
}

std::string headline(const PlanReport& report, const TextStyle& style) {
  const auto& run = report.best.front().run;
  const auto& estimate = *report.estimate;
  std::string line =
      fmt::format("{}  best of {} layouts on {}: {} a step, {}", verdict_word(estimate.verdict.kind, style),
                  quantity::format_count(report.looked_at), machine_of(report), quantity::format_duration(run.step),
                  quantity::format_duration(run.total));
  if (run.cost) line += ", " + quantity::format_money(*run.cost);
  const auto unit = memory_unit_for(estimate.verdict.capacity);
  line += fmt::format(", MFU {}, {} of {} {}", quantity::format_percent(estimate.compute.mfu),
                      in_unit(run.memory, unit), in_unit(estimate.verdict.capacity, unit), unit.name);
  return line;
}

std::string to_text(const PlanReport& report, const TextStyle& style) {
  if (report.best.empty()) return on_screen(nothing_fits(report, style), style);
  if (!style.full) return on_screen(on_one_screen(report, style), style);
  const PlanText text(report, style);
  std::string answer = quantity::joined(plan_verdict(report, style).lines, "\n") + "\n";
  answer += "\n" + text.table(report.best, true);
  if (!report.each.empty()) {
    answer += "\n" + paint("the best of each", Ink::heading, style) + "\n\n" + text.table(report.each, true);
  }
  answer += front_text(report, text, style);
  if (const auto legend = plan_legend(report, style).lines; !legend.empty())
    answer += "\n" + quantity::joined(legend, "\n") + "\n";
  answer += "\n";
  for (const auto& line : sure_lines(report, style)) answer += line + "\n";
  answer += quantity::joined(command_lines(report.fit_command, "in full", style), "\n") + "\n";
  answer += launch_text(report, style) + assumed_text(report.assumptions, style);
  return on_screen(answer + "\n" + quantity::joined(plan_last(report, style).lines, "\n") + "\n", style);
}

}  // namespace llmcalc::render
