#include "render/runs.hpp"

#include "quantity/format.hpp"
#include "render/inner/json_list.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/inner/plan_cells.hpp"
#include "render/inner/run_cells.hpp"
#include "render/inner/table.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {
namespace {

using trust::VerdictKind;

Json run_json(const RunLine& line) {
  Json object;
  object["name"] = line.name;
  object["verdict"] = line.verdict ? identifier(verdict_of(line)) : "error";
  object["needed_bytes"] = line.verdict ? Json(quantity::in_bytes(line.verdict->needed)) : Json();
  object["high_bytes"] = line.verdict ? Json(quantity::in_bytes(line.verdict->high)) : Json();
  const bool judged = line.verdict && line.verdict->kind != VerdictKind::no_accelerator;
  object["capacity_bytes"] = judged ? Json(quantity::in_bytes(line.verdict->capacity)) : Json();
  object["step_seconds"] = line.step ? finite(quantity::in_seconds(*line.step)) : Json();
  object["error"] = text_or_null(line.error);
  return object;
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
  return table.render();
}

std::string to_csv(const Runs& runs) {
  std::string text = "run,verdict,needed_bytes,high_bytes,capacity_bytes,step_seconds,error\n";
  for (const RunLine& line : runs.lines) {
    const auto object = run_json(line);
    text += csv_field(line.name) + "," + object["verdict"].get<std::string>();
    for (const auto* key : {"needed_bytes", "high_bytes", "capacity_bytes", "step_seconds"}) {
      text += "," + (object[key].is_null() ? std::string() : object[key].dump());
    }
    text += "," + csv_field(line.error) + "\n";
  }
  return text;
}

std::string to_json(const Runs& runs) {
  auto answer = json_answer("runs", runs.version);
  answer["runs"] = json_list(runs.lines, run_json);
  return dump(answer);
}

}  // namespace llmcalc::render
