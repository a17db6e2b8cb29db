#include "render/inner/style.hpp"
#include "render/inner/summary.hpp"
#include "render/inner/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace llmcalc::render {
namespace {

constexpr std::string_view not_modelled = "not modelled: ";

void append(std::string& list, std::string_view item, std::string_view separator) {
  list.append(list.empty() ? "" : separator).append(item);
}

/// Options to be typed come together, what is said in words behind them.
std::string in_words(const std::vector<std::string>& assumptions) {
  std::string options;
  std::string words;
  for (const auto& assumption : assumptions) {
    const bool bare = assumption.starts_with("--") && assumption.find(", ") == std::string::npos;
    append(bare ? options : words, assumption, bare ? " " : "; ");
  }
  if (!words.empty()) append(options, words, "; ");
  return options;
}

/// The first of them; how many more there are is for the last line to say.
std::string left_out(const Report& report) {
  std::string words;
  for (const std::string_view note : report.estimate.notes) {
    if (note.starts_with(not_modelled)) append(words, note.substr(not_modelled.size()), "; ");
  }
  return words;
}

}  // namespace

std::string assumed_text(const std::vector<std::string>& assumptions, const TextStyle& style) {
  std::string text;
  for (const auto& line : labelled("assumed", in_words(assumptions), style)) text.append("\n").append(line);
  return text.empty() ? text : text + "\n";
}

Paragraph summary_assumed(const Report& report, const TextStyle& style) {
  auto assumptions = report.assumptions;
  std::erase_if(assumptions, [](const std::string& assumption) {
    return assumption.starts_with("--framework ");  // the second line says so
  });
  Paragraph block{labelled("assumed", in_words(assumptions), style), 0, Trim::text};
  block.least = std::min<std::size_t>(2, block.lines.size());
  std::ranges::move(labelled("left out", left_out(report), style), std::back_inserter(block.lines));
  return block;
}

Paragraph summary_more(const Report&, const TextStyle& style) {
  return {labelled("more", "--full tables, --explain formulas, --timeline, --format json", style), 1};
}

}  // namespace llmcalc::render
