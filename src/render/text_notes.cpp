#include "render/inner/style.hpp"
#include "render/inner/text_sections.hpp"
#include "render/inner/wrap.hpp"

namespace llmcalc::render {
namespace {

std::string list(std::string_view heading, const std::vector<std::string>& items, const TextStyle& style) {
  if (items.empty()) return {};
  auto text = "  " + paint(heading, Ink::heading, style) + '\n';
  constexpr std::size_t indent = 4;
  for (const auto& item : items) text.append("  - ").append(wrapped(item, indent, indent)).append("\n");
  return text;
}

}  // namespace

std::string notes_section(const Report& report, const TextStyle& style) {
  auto text = list("assumed", report.assumptions, style);
  const auto notes = list("notes", report.estimate.notes, style);
  if (!text.empty() && !notes.empty()) text += '\n';
  return text + notes;
}

}  // namespace llmcalc::render
