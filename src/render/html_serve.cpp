// Servers and plans on a page.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/inner/html.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

using quantity::Bytes;
using quantity::format_duration;

/// Parts of a server have no kinds of a training run; each takes the next colour.
std::vector<BarPart> parts_of(const serving::RankMemory& memory, Bytes cache) {
  std::vector<BarPart> parts;
  for (const auto& line : memory.holdings) parts.push_back({parts.size(), std::string(line.label), line.size});
  parts.push_back({parts.size(), "KV cache", cache});
  return parts;
}

void add_server_memory(Html& html, const ServingReport& report, const MemoryUnit& unit) {
  const auto& memory = report.answer.memory;
  const auto parts = parts_of(memory, cache_of(report));
  html.element("h2", "Memory of one accelerator");
  add_bar(html, parts, memory.capacity, "what the accelerator holds");
  html.open_table({"", std::string(unit.name)});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    html.open("tr").open("td").open(fmt::format("u class=\"h{}\"", parts[i].colour)).close();
    const bool held = i < memory.holdings.size();
    const auto why = held ? answer::Explanation{std::string(memory.holdings[i].formula), in_unit(parts[i].size, unit),
                                                std::string(memory.holdings[i].source)}
                          : answer::Explanation{};
    add_why(html, parts[i].label, why);
    html.close().element("td class=\"n\"", in_unit(parts[i].size, unit)).close();
  }
  html.row("td", {"of", in_unit(memory.capacity, unit)}).close().close();
}

void add_speed(Html& html, const serving::Speed& speed) {
  html.element("h2", "Speed under the load").open_table({"of the whole deployment", ""});
  html.row("td", {"to the first token", speed.saturated ? "never steady" : format_duration(speed.ttft)});
  html.row("td", {"each later token", format_duration(speed.tpot)});
  if (speed.tail) {
    html.row("td", {"to the first token, 95 of 100 requests", format_duration(speed.tail->ttft.p95)});
    html.row("td", {"each later token, 95 of 100 requests", format_duration(speed.tail->tpot.p95)});
  }
  html.row("td", {"tokens/s of output", figure_text(speed.tokens_per_s)});
  html.row("td", {"requests/s", figure_text(speed.requests_per_s)});
  for (const auto& part : speed.parts) {
    if (part.time == quantity::Seconds{}) continue;
    html.row("td", {"a decoding step: " + std::string(part.label), format_duration(part.time)});
  }
  html.close().close();
}

/// Lines of a screen, each with those that go on below it, which begin further in than a label.
std::vector<std::string> unwrapped(const std::vector<std::string>& lines) {
  std::vector<std::string> whole;
  for (const std::string& line : lines) {
    const auto text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    const bool goes_on = !whole.empty() && line.starts_with("   ");
    if (goes_on) {
      whole.back() += ' ' + text;
    } else {
      whole.push_back(text);
    }
  }
  return whole;
}

void add_candidates(Html& html, std::string_view heading, const std::vector<serving::Candidate>& changes) {
  if (changes.empty()) return;
  html.element("h2", heading).open_table({"change", "context", "requests"}, "table class=\"changes\"");
  for (const auto& change : changes) {
    html.open("tr");
    add_change(html, change.change, change.cost);
    html.element("td class=\"n\"", quantity::format_count(change.max_context));
    html.element("td class=\"n\"", quantity::format_count(change.max_concurrency)).close();
  }
  html.close().close();
}

/// The figures of a plan's table, a row a layout.
void add_runs(Html& html, std::string_view heading, const PlanReport& report, const std::vector<PlanRow>& rows,
              const MemoryUnit& unit) {
  if (rows.empty()) return;
  html.element("h2", heading).open_table({"layout", "step", std::string(unit.name), "run", "cost"});
  for (const auto& row : rows) {
    html.row("td", {layout_words(report, row), format_duration(row.run.step), in_unit(row.run.memory, unit),
                    format_duration(row.run.total), row.run.cost ? quantity::format_money(*row.run.cost) : ""});
  }
  html.close().close();
}

/// Memory across and time up, a dot a layout.
void add_front(Html& html, const std::vector<PlanRow>& rows) {
  if (rows.size() < 2) return;
  const auto by_memory = [](const PlanRow& row) { return row.run.memory; };
  const auto by_step = [](const PlanRow& row) { return row.run.step; };
  const auto widest = std::ranges::max(rows, {}, by_memory).run.memory;
  const auto longest = std::ranges::max(rows, {}, by_step).run.step;
  html.element("h2", "No layout takes less memory, time and cost at once");
  html.open("figure").open("div class=\"picture\"");
  for (const auto& row : rows) {
    html.open(fmt::format("span class=\"dot h0\" style=\"left:{:.1f}%;bottom:{:.1f}%\" title=\"{} a step\"",
                          96 * (row.run.memory / widest), 94 * (row.run.step / longest),
                          format_duration(row.run.step)));
    html.close();
  }
  html.close().element("figcaption",
                       "Across: memory from nothing to that of the largest. Up: time of a step from nothing "
                       "to that of the slowest.");
  html.close();
}

}  // namespace

std::string to_html(const ServingReport& report, const TextStyle& style) {
  TextStyle all = style;
  all.colour = all.bars = false;
  all.explain = true;
  const auto text = to_text(report, all);
  const auto title = quantity::joined(unwrapped(serving_verdict(report, all).lines), " ");
  return html_page(title, report.version, [&](Html& html) {
    html.element("h1", title);
    add_candidates(html, "What would help", report.advice);
    add_candidates(html, "Compared", report.found);
    for (const auto& line : unwrapped(serving_capacity(report, all).lines)) html.element("p", line);
    add_server_memory(html, report, unit_of(std::max(report.answer.memory.capacity, quantity::gib(1)), style));
    if (report.answer.speed) add_speed(html, *report.answer.speed);
    if (!report.launch.empty())
      html.element("h2", "The command").open("pre class=\"command\"").lines(report.launch).close();
    for (const auto& note : report.launch_notes) html.element("p", note);
    add_list(html, "Assumed", sentences(report.assumptions));
    add_list(html, "Not modelled, and measured on", report.answer.notes);
    add_question(html, report.question);
    add_folded(html, "every table with formula and source", text);
  });
}

std::string to_html(const PlanReport& report, const TextStyle& style) {
  TextStyle plain = style;
  plain.colour = false;
  const auto text = to_text(report, plain);
  const auto title = report.estimate ? headline(report, {}) : lines_of(text).front();
  return html_page(title, report.version, [&](Html& html) {
    html.element("h1", title);
    add_list(html, "Warnings", report.warnings);
    if (report.estimate) {
      const auto unit = memory_unit_for(report.estimate->verdict.capacity);
      add_runs(html, "The best", report, report.best, unit);
      if (report.sure) add_runs(html, "The best that surely fits (--strict)", report, {*report.sure}, unit);
      add_runs(html, "The best of each", report, report.each, unit);
      add_front(html, report.front);
      html.element("h2", "The best as a command").open("pre class=\"command\"").lines(report.fit_command).close();
      add_memory(html, *report.estimate, plain);
      add_time(html, report.estimate->compute);
    }
    add_list(html, "Assumed", sentences(report.assumptions));
    add_folded(html, "as a terminal has it", text);
  });
}

}  // namespace llmcalc::render
