// Reports that other programs show: Markdown in a review, JUnit XML in a pipeline.
#include "quantity/text.hpp"
#include "render/inner/run_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const auto& cell : cells) {
    row += ' ';
    for (const char c : cell) row.append(c == '|' ? "\\|" : std::string(1, c));
    row += " |";
  }
  return row + "\n";
}

/// Text inside of an attribute (XML 1.0, section 2.4); control bytes, which XML cannot hold, are written out.
std::string attribute(std::string_view text) {
  std::string safe;
  for (const char c : quantity::printable(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string test_case(const RunLine& line, bool strict) {
  const auto head = fmt::format("  <testcase classname=\"llmcalc\" name=\"{}\"", attribute(line.name));
  if (!line.verdict) return fmt::format("{}><error message=\"{}\"/></testcase>\n", head, attribute(line.error));
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
