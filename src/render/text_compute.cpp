#include "quantity/format.hpp"
#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::render {
namespace {

std::string parameters_table(const answer::SizeAnswer& size, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::right});
  const auto add = [&](std::string label, quantity::Parameters count) {
    table.add_row(
        {std::move(label), quantity::format_parameters(count), quantity::format_count(quantity::in_parameters(count))});
  };
  table.add_row({paint("parameters", Ink::heading, style)});
  add("total", size.total);
  add("active for a token", size.active);
  add("trainable", size.trainable);
  add("embedding and head", size.embedding);
  return table.render();
}

std::string flops_table(const answer::TimeAnswer& compute, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::right, Align::right});
  const bool timed = std::ranges::any_of(compute.flops, [](const auto& figure) { return figure.utilization > 0; });
  table.add_row({paint("compute", Ink::heading, style), "per token", "whole run", timed ? "of peak" : ""});
  for (const auto& figure : compute.flops) {
    table.add_row({figure.label, quantity::format_flops(figure.per_token), quantity::format_flops(figure.total),
                   figure.utilization > 0 ? quantity::format_percent(figure.utilization) : std::string()});
    add_explanation(table, figure.why, style);
  }
  table.add_row({"PFLOP-days (6PD)", "", figure_text(compute.pflop_days)});
  return table.render();
}

}  // namespace

std::string compute_section(const Report& report, const TextStyle& style) {
  return parameters_table(report.estimate.size, style) + '\n' + flops_table(report.estimate.compute, style);
}

}  // namespace llmcalc::render
