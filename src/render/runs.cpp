#include "render/runs.hpp"

#include "quantity/format.hpp"
#include "render/foreign.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/inner/plan_cells.hpp"
#include "render/inner/run_cells.hpp"
#include "render/inner/table.hpp"

#include <algorithm>

namespace llmcalc::render {
namespace {

using trust::VerdictKind;

std::string csv_line(const RunLine& line) {
  const bool judged = line.verdict && line.verdict->kind != VerdictKind::no_accelerator;
  const auto of = [&](bool known, quantity::Bytes answer::Verdict::*figure) {
    return known ? std::to_string(quantity::in_bytes((*line.verdict).*figure)) : std::string();
  };
  std::string verdict = verdict_of(line);
  std::ranges::replace(verdict, ' ', '_');
  return shown(line.name, Medium::csv) + "," + verdict + "," + of(line.verdict.has_value(), &answer::Verdict::needed) +
         "," + of(line.verdict.has_value(), &answer::Verdict::high) + "," + of(judged, &answer::Verdict::capacity) +
         "," + (line.step ? exact(quantity::in_seconds(*line.step)) : std::string()) + "," +
         shown(line.error, Medium::csv) + "\n";
}

}  // namespace

bool fails(const RunLine& line, bool strict) {
  if (!line.verdict) return false;
  const auto kind = line.verdict->kind;
  return kind == VerdictKind::does_not_fit || (strict && kind == VerdictKind::tight);
}

std::string verdict_of(const RunLine& line) {
  if (!line.verdict) return "error";
  switch (line.verdict->kind) {
    case VerdictKind::fits: return "fits";
    case VerdictKind::tight: return "tight";
    case VerdictKind::does_not_fit: return "does not fit";
    case VerdictKind::no_accelerator: break;
  }
  return "no accelerator";
}

std::vector<std::string> run_heads() { return {"run", "verdict", "needs GiB", "up to", "of", "step"}; }

std::vector<std::string> run_cells(const RunLine& line) {
  if (!line.verdict) return {line.name, "error", "", "", "", line.error};
  const auto unit = memory_unit_for(quantity::gib(1));
  const bool judged = line.verdict->kind != VerdictKind::no_accelerator;
  return {line.name,
          verdict_of(line),
          in_unit(line.verdict->needed, unit),
          in_unit(line.verdict->high, unit),
          judged ? in_unit(line.verdict->capacity, unit) : "",
          line.step ? quantity::format_duration(*line.step) : ""};
}

std::string to_text(const Runs& runs) {
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::left}, "");
  table.wrap_last_column();
  table.add_row(run_heads());
  for (const RunLine& line : runs.lines) table.add_row(run_cells(line));
  return on_screen(table.render());
}

std::string to_csv(const Runs& runs) {
  std::string text = "run,verdict,needed_bytes,high_bytes,capacity_bytes,step_seconds,error\n";
  for (const RunLine& line : runs.lines) text += csv_line(line);
  return text;
}

}  // namespace llmcalc::render
