#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"

#include <string>

namespace llmcalc::render {
namespace {

using trust::VerdictKind;

std::string room_left(const search::Headroom& headroom, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::left});
  table.add_row({paint("room left", Ink::heading, style), "", paint("one change at a time", Ink::dim, style)});
  table.add_row({"--micro-batch", std::to_string(headroom.micro_batch), "sequences at once"});
  table.add_row({"--seq", std::to_string(headroom.seq), "tokens a sequence"});
  return table.render();
}

std::string advised_changes(const Report& report, const TextStyle& style) {
  const auto unit = memory_unit_of(report.estimate, style);
  Table table({Align::right, Align::left});
  table.wrap_last_column();
  table.add_line("  " + paint(std::string("what would make it fit (").append(unit.name) + ")", Ink::heading, style));
  for (const auto& advice : report.advised.changes) {
    const bool tight = advice.verdict == VerdictKind::tight;
    table.add_row({in_unit(advice.needed, unit), options_of(advice) + (tight ? "  (tight)" : "")});
    table.add_row({"", advice.change});
    table.add_row({"", paint("costs " + advice.cost, Ink::dim, style)});
  }
  if (report.advised.changes.empty()) table.add_line("  no change, and no four of them together, that llmcalc knows");
  return table.render();
}

}  // namespace

std::string advice_section(const Report& report, const TextStyle& style) {
  const auto kind = report.estimate.verdict.kind;
  const auto& headroom = report.advised.headroom;
  if (headroom && kind == VerdictKind::fits) return room_left(*headroom, style);
  if (kind == VerdictKind::does_not_fit || kind == VerdictKind::tight) return advised_changes(report, style);
  return {};
}

}  // namespace llmcalc::render
