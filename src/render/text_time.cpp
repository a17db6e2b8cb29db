#include "llmcalc/quantity/format.hpp"
#include "render/style.hpp"
#include "render/text_common.hpp"
#include "render/text_sections.hpp"

#include <utility>

namespace llmcalc::render {

std::string time_section(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  Table table({Align::left, Align::right, Align::left});
  const auto add = [&](std::string label, std::string value, std::string_view remark) {
    table.add_row({std::move(label), std::move(value), paint(remark, Ink::dim, style)});
  };
  table.add_row({paint("time", Ink::heading, style)});
  add("tokens", quantity::format_tokens(time.tokens), time.tokens_source);
  if (!report.estimate.timed) {
    table.add_line("  no accelerator was named, so there is no time and no cost (name one with --gpu)");
    return table.render();
  }
  add("MFU", quantity::format_percent(time.mfu), time.mfu_source);
  add("peak", quantity::format_rate(time.peak), "of one accelerator");
  add("step", quantity::format_duration(time.step), "");
  add("run", quantity::format_duration(time.total), "");
  add("GPU-hours", figure_text(time.gpu_hours), "");
  if (time.cost) {
    add("cost", quantity::format_money(*time.cost), time.price_source);
  } else {
    add("cost", "unknown", "no price is known (give one with --price)");
  }
  return table.render();
}

}  // namespace llmcalc::render
