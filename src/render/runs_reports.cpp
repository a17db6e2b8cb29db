// Reports that other programs show: Markdown in a review, JUnit XML in a pipeline.
#include "render/foreign.hpp"
#include "render/inner/run_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += " " + shown(cell, Medium::markdown) + " |";
  return row + "\n";
}

std::string test_case(const RunLine& line, bool strict) {
  const auto head = fmt::format("  <testcase classname=\"llmcalc\" name=\"{}\"", shown(line.name, Medium::xml));
  if (!line.verdict)
    return fmt::format("{}><error message=\"{}\"/></testcase>\n", head, shown(shortened(line.error), Medium::xml));
  if (!fails(line, strict)) return head + "/>\n";
  const auto cells = run_cells(line);
  return fmt::format("{}><failure message=\"{}: needs {} of {} GiB, at most {}\"/></testcase>\n", head, cells[1],
                     cells[2], cells[4], cells[3]);
}

}  // namespace

std::string to_markdown(const Runs& runs) {
  auto text = markdown_row(run_heads()) + "|---|---|---:|---:|---:|---|\n";
  for (const RunLine& line : runs.lines) text += markdown_row(run_cells(line));
  return text;
}

std::string to_junit(const Runs& runs) {
  const auto failures =
      std::ranges::count_if(runs.lines, [&](const RunLine& line) { return fails(line, runs.strict); });
  const auto errors = std::ranges::count_if(runs.lines, [](const RunLine& line) { return !line.verdict; });
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"llmcalc\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\">\n",
      runs.lines.size(), failures, errors);
  for (const RunLine& line : runs.lines) text += test_case(line, runs.strict);
  return text + "</testsuite>\n";
}

}  // namespace llmcalc::render
