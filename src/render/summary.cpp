#include "render/inner/summary.hpp"

#include "render/inner/style.hpp"
#include "render/inner/width.hpp"
#include "render/inner/wrap.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace llmcalc::render {

void add_lines(Paragraph& block, std::vector<std::string> lines) {
  std::ranges::move(lines, std::back_inserter(block.lines));
}
namespace {

constexpr std::size_t label_columns = 10;  // "assumed", "run", ... and what follows them
constexpr std::string_view indent = "  ";

/// Warnings stand on stderr, on the same screen as the answer.
std::size_t lines_of_warnings(const Report& report) {
  constexpr std::size_t lead = std::string_view("llmcalc: warning: ").size();
  std::size_t lines = 0;
  for (const auto& warning : report.estimate.warnings) {
    lines += lines_of(wrapped(warning, lead, indent.size())).size();
  }
  return lines;
}

std::size_t lines_in(std::span<const Paragraph> blocks) {
  std::size_t lines = 0;
  for (const Paragraph& block : blocks) lines += block.lines.size();
  return lines;
}

void mark_as_cut(std::string& line) {
  constexpr std::string_view mark = " ...";
  while (display_width(line) + mark.size() > page_columns && line.find(' ') != line.npos) line.erase(line.rfind(' '));
  line += mark;
}

void shorten(Paragraph& block, std::size_t lines) {
  lines = std::max(lines, block.least);
  if (lines >= block.lines.size()) return;
  block.lines.resize(block.trim == Trim::whole ? block.least : lines);
  if (block.trim == Trim::text && !block.lines.empty()) mark_as_cut(block.lines.back());
}

/// Takes lines from the blocks that give way first, which are the last ones.
void shorten(std::span<Paragraph> blocks, std::size_t most) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const std::size_t all = lines_in(blocks);
    const std::size_t excess = all - std::min(all, most);
    shorten(*block, block->lines.size() - std::min(block->lines.size(), excess));
  }
}

}  // namespace

std::vector<std::string> labelled(std::string_view label, std::string_view text, const TextStyle& style) {
  const auto column = indent.size() + label_columns;
  auto lines = lines_of(wrapped(text, column, column));
  const std::string padding(label_columns - std::min(label_columns, label.size()), ' ');
  if (!lines.empty()) lines.front().insert(0, std::string(indent) + paint(label, Ink::heading, style) + padding);
  return lines;
}

std::string summary(const Report& report, const TextStyle& style) {
  std::array blocks{summary_verdict(report, style), summary_memory(report, style),  summary_time(report, style),
                    summary_change(report, style),  summary_assumed(report, style), summary_more(report, style)};
  constexpr std::size_t fewest = 16;  // below, an answer would lose what it is about
  const auto screen = std::max(fewest, style.lines - std::min(style.lines, lines_of_warnings(report)));
  return on_a_screen(blocks, screen);
}

std::string on_a_screen(std::span<Paragraph> blocks, std::size_t lines) {
  shorten(blocks, lines);
  auto gaps = lines - std::min(lines, lines_in(blocks));
  std::string text;
  for (const Paragraph& block : blocks) {
    if (!text.empty() && !block.lines.empty() && !block.adjoins && gaps > 0) {
      text += '\n';
      --gaps;
    }
    for (const auto& line : block.lines) text.append(line).append("\n");
  }
  return text;
}

}  // namespace llmcalc::render
