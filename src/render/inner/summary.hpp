// The answer on one screen: blocks of lines, the last lines of which give way where the screen is full.
#pragma once

#include "llmcalc/render/report.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace llmcalc::render {

/// What is left of a block that the screen has no room for.
enum class Trim {
  rows,  ///< the first of its lines, each of which says something of its own
  text,  ///< the first of its lines, and a mark that the text goes on
  whole  ///< nothing: half of a command is none
};

struct Paragraph {
  std::vector<std::string> lines;
  std::size_t least = 0;  ///< lines that stay however full the screen is
  Trim trim = Trim::rows;
  bool adjoins = false;  ///< never an empty line before it
};

void add_lines(Paragraph& block, std::vector<std::string> lines);

/// Verdict, model, method, sequence, batch and accelerators; how they are run; need, room and error bar.
Paragraph summary_verdict(const Report& report, const TextStyle& style);

/// The largest parts of the peak, and where it is.
Paragraph summary_memory(const Report& report, const TextStyle& style);

/// A step, the run, what it costs.
Paragraph summary_time(const Report& report, const TextStyle& style);

/// What would make it fit, or how much more would.
Paragraph summary_change(const Report& report, const TextStyle& style);

/// What nobody said and the answer depends on.
Paragraph summary_assumed(const Report& report, const TextStyle& style);

/// Where the rest is.
Paragraph summary_more(const Report& report, const TextStyle& style);

/// At most style.lines lines of 80 columns, less those that the warnings beside them take.
std::string summary(const Report& report, const TextStyle& style);

/// What a run's answer takes for granted, as the last lines of a longer one, behind an empty line.
std::string assumed_text(const std::vector<std::string>& assumptions, const TextStyle& style);

/// The blocks one below the other with a blank line between them, shortened from the last on where the screen is full.
std::string on_a_screen(std::span<Paragraph> blocks, std::size_t lines);

/// As many lines as there are, with every blank one.
inline constexpr std::size_t blocks_without_end = 1'000'000;

/// "assumed   text", on as many lines as it takes, those behind the first under the text.
std::vector<std::string> labelled(std::string_view label, std::string_view text, const TextStyle& style);

}  // namespace llmcalc::render
