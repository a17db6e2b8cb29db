#include "quantity/format.hpp"
#include "render/inner/bar.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"

#include <fmt/format.h>

namespace llmcalc::render {

std::string step_section(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  if (time.step_parts.empty()) return {};
  Table table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({paint("time of a step", Ink::heading, style), "", "share"});
  for (const auto& part : time.step_parts) {
    const double share = part.time / time.step;
    table.add_row({part.label, quantity::format_duration(part.time), share_text(share),
                   style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
    add_explanation(table, part.why, style);
  }
  table.add_row({"total", quantity::format_duration(time.step), share_text(1.0)});
  table.add_prose(
      2, paint(fmt::format("error bar ±{}, {}", share_text(time.error_share), time.error_source), Ink::dim, style));
  return table.render();
}

}  // namespace llmcalc::render
