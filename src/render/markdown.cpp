// A run as Markdown, for a pull request: the verdict, what is held, what would make it fit, and folded, what was
// assumed.
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

/// What is no cell of a table: the same marks mean something there, and so do those of HTML and of emphasis.
std::string paragraph(std::string_view text) {
  std::string safe;
  for (const char c : shown(text, Medium::line)) {
    if (std::string_view("\\`*_[]#|").find(c) != std::string_view::npos) safe += '\\';
    const bool opens = c == '<' || c == '&';
    opens ? safe += c == '<' ? "&lt;" : "&amp;" : safe += c;
  }
  return safe;
}

std::string ledger_rows(const answer::MemoryAnswer& memory, const MemoryUnit& unit) {
  auto table = fmt::format("| at the peak | {} | share |\n|---|--:|--:|\n", unit.name);
  for (const auto& line : memory.ledger) {
    table += fmt::format("| {} | {} | {} |\n", paragraph(line.label), in_unit(line.size, unit),
                         share_text(line.size / memory.peak_needed));
  }
  return table + fmt::format("| total | {} | 100 % |\n", in_unit(memory.peak_needed, unit));
}

std::string folded(std::string_view summary, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  auto text = fmt::format("\n<details><summary>{}</summary>\n\n", summary);
  for (const auto& item : items) text += "- " + paragraph(item) + "\n";
  return text + "\n</details>\n";
}

}  // namespace

std::string to_markdown(const Report& report, const TextStyle& style) {
  const auto& estimate = report.estimate;
  auto text = fmt::format("**{}** {}\n\n{}\n\n", verdict_word(report, {}), paragraph(run_words(report)),
                          paragraph(need_and_bar_words(estimate.verdict, style)));
  for (const auto& limit : report.broken_limits) text += paragraph(limit) + "\n\n";
  text += ledger_rows(estimate.memory, memory_unit_of(estimate, style));
  if (estimate.timed) {
    text +=
        "\n- step: " + paragraph(step_words(estimate.compute)) + "\n- run: " + paragraph(length_words(report)) + "\n";
  }
  const auto told = [](const search::Advice& advice) { return options_of(advice) + ": " + advice.change; };
  if (!report.advised.changes.empty()) {
    text += "\nWhat would make it fit:\n\n";
    for (const auto& change : report.advised.changes) text += "- " + paragraph(told(change)) + "\n";
  }
  return text + folded("warnings", estimate.warnings) + folded("assumed", report.assumptions) +
         folded("notes", estimate.notes);
}

}  // namespace llmcalc::render
