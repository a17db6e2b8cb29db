// Many questions, a line each: tables, Markdown for a review, JUnit XML for a pipeline.
#include "render/runs.hpp"

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmcalc::render {
namespace {

using trust::VerdictKind;

std::string verdict_of(const RunLine& line) {
  if (!line.verdict) return "error";
  if (line.verdict->kind != VerdictKind::does_not_fit && !line.reasons.empty()) return "over limit";
  switch (line.verdict->kind) {
    case VerdictKind::fits: return "fits";
    case VerdictKind::tight: return "tight";
    case VerdictKind::does_not_fit: return "does not fit";
    case VerdictKind::no_accelerator: break;
  }
  return "no accelerator";
}

bool is_judged(const RunLine& line) { return line.verdict && line.verdict->kind != VerdictKind::no_accelerator; }

const std::vector<std::string> heads{"run", "verdict", "needs GiB", "up to", "of", "step", "whole", "cost", "why"};

/// Why a run fails, and what helps first.
std::string why(const RunLine& line) {
  auto text = quantity::joined(line.reasons, "; ");
  if (!line.advice.empty()) text += (text.empty() ? "fits with " : "; fits with ") + line.advice;
  return text;
}

std::vector<std::string> cells_of(const RunLine& line) {
  if (!line.verdict) return {line.name, "error", "", "", "", "", "", "", line.error};
  const auto unit = memory_unit_for(quantity::gib(1));
  return {line.name,
          verdict_of(line),
          in_unit(line.verdict->needed, unit),
          in_unit(line.verdict->high, unit),
          is_judged(line) ? in_unit(line.verdict->capacity, unit) : "",
          line.step ? quantity::format_duration(*line.step) : "",
          line.total ? quantity::format_duration(*line.total) : "",
          line.cost ? quantity::format_money(*line.cost) : "",
          why(line)};
}

std::string csv_line(const RunLine& line) {
  const auto of = [&](bool known, quantity::Bytes answer::Verdict::*figure) {
    return known ? std::to_string(quantity::in_bytes((*line.verdict).*figure)) : std::string();
  };
  std::string verdict = verdict_of(line);
  std::ranges::replace(verdict, ' ', '_');
  const bool answered = line.verdict.has_value();
  const std::string cells[] = {shown(line.name, Medium::csv),
                               verdict,
                               of(answered, &answer::Verdict::needed),
                               of(answered, &answer::Verdict::high),
                               of(is_judged(line), &answer::Verdict::capacity),
                               line.step ? fmt::format("{}", quantity::in_seconds(*line.step)) : std::string(),
                               shown(line.error, Medium::csv),
                               line.total ? fmt::format("{}", quantity::in_seconds(*line.total)) : std::string(),
                               line.cost ? fmt::format("{}", quantity::in_dollars(*line.cost)) : std::string(),
                               shown(quantity::joined(line.reasons, "; "), Medium::csv),
                               shown(line.advice, Medium::csv)};
  return quantity::joined(cells, ",") + "\n";
}

std::string test_case(const RunLine& line, bool strict) {
  const auto head = fmt::format("  <testcase classname=\"llmcalc\" name=\"{}\"", shown(line.name, Medium::xml));
  if (!line.verdict)
    return fmt::format("{}><error message=\"{}\"/></testcase>\n", head, shown(shortened(line.error), Medium::xml));
  if (!fails(line, strict)) return head + "/>\n";
  const auto cells = cells_of(line);
  const auto reason = why(line).empty() ? "" : "; " + shown(why(line), Medium::xml);
  return fmt::format("{}><failure message=\"{}: needs {} of {} GiB, at most {}{}\"/></testcase>\n", head, cells[1],
                     cells[2], cells[4], cells[3], reason);
}

}  // namespace

bool fails(const RunLine& line, bool strict) {
  if (!line.verdict) return false;
  const auto kind = line.verdict->kind;
  return kind == VerdictKind::does_not_fit || !line.reasons.empty() || (strict && kind == VerdictKind::tight);
}

/// A line for each run; below them why some fail, which no column is wide enough for.
std::string to_text(const Runs& runs) {
  Table table(
      {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left, Align::left, Align::left}, "");
  const auto add = [&](std::vector<std::string> cells) {
    cells.pop_back();
    table.add_row(std::move(cells));
  };
  add(heads);
  std::string reasons;
  for (const RunLine& line : runs.lines) {
    auto cells = cells_of(line);
    if (!cells.back().empty()) reasons += wrapped(line.name + ": " + cells.back(), 0, 2) + "\n";
    add(std::move(cells));
  }
  return on_screen(table.render() + (reasons.empty() ? "" : "\n" + reasons));
}

std::string to_csv(const Runs& runs) {
  std::string text =
      "run,verdict,needed_bytes,high_bytes,capacity_bytes,step_seconds,error,total_seconds,cost_usd,reason,advice\n";
  for (const RunLine& line : runs.lines) text += csv_line(line);
  return text;
}

std::string to_markdown(const Runs& runs) {
  auto text = markdown_row(heads) + "|---|---|---:|---:|---:|---|---|---|---|\n";
  for (const RunLine& line : runs.lines) text += markdown_row(cells_of(line));
  return text;
}

std::string to_junit(const Runs& runs) {
  const auto failures =
      std::ranges::count_if(runs.lines, [&](const RunLine& line) { return fails(line, runs.strict); });
  const auto errors = std::ranges::count_if(runs.lines, [](const RunLine& line) { return !line.verdict; });
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"llmcalc\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\">\n",
      runs.lines.size(), failures, errors);
  for (const RunLine& line : runs.lines) text += test_case(line, runs.strict);
  return text + "</testsuite>\n";
}

}  // namespace llmcalc::render
