#include "render/inner/bar.hpp"
#include "render/inner/style.hpp"
#include "render/inner/summary.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace llmcalc::render {
namespace {

using answer::LedgerLine;

constexpr std::size_t most_parts = 4;
constexpr std::size_t hanging = 2;

std::vector<LedgerLine> largest_first(std::vector<LedgerLine> ledger) {
  std::ranges::stable_sort(ledger, std::ranges::greater{}, &LedgerLine::size);
  return ledger;
}

}  // namespace

Paragraph summary_memory(const Report& report, const TextStyle& style) {
  const auto& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate, style);
  const auto parts = largest_first(memory.ledger);
  const auto told = parts.size() == most_parts + 1 ? parts.size() : std::min(most_parts, parts.size());
  Table table({Align::left, Align::right, Align::right, Align::left});
  const auto add = [&](std::string label, quantity::Bytes size) {
    const double share = memory.peak_needed == quantity::Bytes{} ? 0.0 : size / memory.peak_needed;
    table.add_row({std::move(label), in_unit(size, unit), share_text(share),
                   style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
  };
  table.add_row({paint("largest at the peak", Ink::heading, style), std::string(unit.name), "share"});
  quantity::Bytes others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i < told) {
      add(parts[i].label, parts[i].size);
    } else {
      others = others + parts[i].size;
    }
  }
  if (told < parts.size()) add(fmt::format("{} smaller ones", parts.size() - told), others);
  Paragraph block{lines_of(table.render()), 0};
  std::ranges::move(page_lines(peak_words(memory), hanging), std::back_inserter(block.lines));
  constexpr std::size_t always = 4;  // the heading and three parts: the rest gives way where all else is needed
  block.least = std::min(always, block.lines.size());
  return block;
}

}  // namespace llmcalc::render
