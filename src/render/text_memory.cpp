#include "render/style.hpp"
#include "render/text_common.hpp"
#include "render/text_sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::render {
namespace {

using answer::LedgerLine;
using answer::MemoryAnswer;
using quantity::Bytes;

/// The part of the total, or 0 where there is no total.
double share_of(Bytes part, Bytes total) { return total == Bytes{} ? 0.0 : part / total; }

/// A bar of 24 columns for the whole, drawn in eighths of a column (Unicode block elements U+2588 to U+258F).
std::string bar(double share) {
  constexpr double columns = 24;
  constexpr int eighths_per_column = 8;
  static constexpr std::array<std::string_view, eighths_per_column> partial{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * eighths_per_column));
  std::string drawn;
  for (int i = 0; i < eighths / eighths_per_column; ++i) drawn += "█";
  return drawn.append(partial[static_cast<std::size_t>(eighths % eighths_per_column)]);
}

void add_ledger_line(Table& table, const LedgerLine& line, Bytes total, const MemoryUnit& unit,
                     const TextStyle& style) {
  const double share = share_of(line.size, total);
  table.add_row({line.label + (line.empirical ? " *" : ""), in_unit(line.size, unit), share_text(share),
                 style.bars ? paint(bar(share), Ink::dim, style) : std::string()});
  add_explanation(table, line.why, style);
}

}  // namespace

std::string ledger_section(const Report& report, const TextStyle& style) {
  const MemoryAnswer& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate);
  Table table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({paint("memory at the peak", Ink::heading, style), std::string(unit.name), "share"});
  for (const auto& line : memory.ledger) add_ledger_line(table, line, memory.peak_device, unit, style);
  table.add_row(
      {"total", in_unit(memory.peak_device, unit), share_text(share_of(memory.peak_device, memory.peak_device))});
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
    add(memory::name_of(phase.phase), phase.allocated, phase.phase == memory.peak_phase ? "peak" : "");
  }
  add("between steps", memory.persistent, "");
  add("first step", memory.peak_first_step, "before optimizer states exist");
  add("steady step", memory.peak_allocated, "");
  add("held by the allocator", memory.peak_reserved, "");
  add("on the device", memory.peak_device, "with the context");
  return table.render();
}

}  // namespace llmcalc::render
