#include "render/bar.hpp"
#include "render/style.hpp"
#include "render/text_common.hpp"
#include "render/text_sections.hpp"

#include <algorithm>

namespace llmcalc::render {
namespace {

using answer::LedgerLine;
using answer::MemoryAnswer;
using quantity::Bytes;

/// The part of the total, or 0 where there is no total.
double share_of(Bytes part, Bytes total) { return total == Bytes{} ? 0.0 : part / total; }

constexpr int bar_columns = 24;

void add_ledger_line(Table& table, const LedgerLine& line, Bytes total, const MemoryUnit& unit,
                     const TextStyle& style) {
  const double share = share_of(line.size, total);
  table.add_row({line.label + (line.empirical ? " *" : ""), in_unit(line.size, unit), share_text(share),
                 style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
  add_explanation(table, line.why, style);
}

}  // namespace

std::string ledger_section(const Report& report, const TextStyle& style) {
  const MemoryAnswer& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate);
  Table table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({paint("memory at the peak", Ink::heading, style), std::string(unit.name), "share"});
  for (const auto& line : memory.ledger) add_ledger_line(table, line, memory.peak_needed, unit, style);
  table.add_row(
      {"total", in_unit(memory.peak_needed, unit), share_text(share_of(memory.peak_needed, memory.peak_needed))});
  if (std::ranges::any_of(memory.ledger, &LedgerLine::empirical)) {
    table.add_line(paint("  * measured constant of the runtime", Ink::dim, style));
  }
  return table.render();
}

std::string phases_section(const Report& report, const TextStyle& style) {
  const MemoryAnswer& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate);
  Table table({Align::left, Align::right, Align::left});
  const auto add = [&](std::string_view label, Bytes size, std::string_view remark) {
    table.add_row({std::string(label), in_unit(size, unit), paint(remark, Ink::dim, style)});
  };
  table.add_row({paint("allocated", Ink::heading, style), std::string(unit.name)});
  for (const auto& phase : memory.phases) {
    const bool peak = phase.phase == memory.peak_phase;
    add(memory::name_of(phase.phase), phase.allocated, peak ? "peak" : "");
    if (peak) add_explanation(table, memory.peak_why, style);
  }
  add("between steps", memory.persistent, "");
  add("first step", memory.peak_first_step, "before optimizer states exist");
  add("steady step", memory.peak_allocated, "");
  const bool caches = memory.peak_device > memory.peak_needed;
  add("held by the allocator", memory.peak_reserved, caches ? "with what it only caches" : "");
  add("on the device", memory.peak_device,
      caches ? "as nvidia-smi shows it; the verdict goes by the need" : "with the context");
  return table.render();
}

}  // namespace llmcalc::render
