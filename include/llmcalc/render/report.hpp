// One answer in every form: the report is what all renderers print.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/search/advised.hpp"
#include "llmcalc/spec/word.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace llmcalc::render {

/// Assumptions as they are read.
std::vector<std::string> sentences(const std::vector<spec::Assumption>& assumptions);

/// Memory that the run needs as a trainer runs it.
struct TrainerNeed {
  std::string framework;
  quantity::Bytes needed;
};

/// Everything a renderer may print about one `fit` question.
struct Report {
  std::vector<spec::Word> question;  ///< every term with its value and where that came from
  answer::Estimate estimate;
  search::Advised advised;
  std::vector<std::string> broken_limits;  ///< limits that the caller set and the run does not keep
  std::vector<spec::Assumption> assumptions;
  std::string version;                     ///< of the tool; JSON names it
  std::vector<TrainerNeed> trainers = {};  ///< of a size alone, which nobody trains as the textbook does
};

struct TextStyle {
  bool colour = false;
  bool bars = false;       ///< draw a bar a ledger line (terminals)
  bool timeline = false;   ///< draw the memory of a step
  bool explain = false;    ///< formula, numbers and source under every line
  bool full = false;       ///< every table; the other two ask for them as well
  std::size_t lines = 22;  ///< of the screen that the short answer fits on
  std::string unit = {};   ///< of all memory figures, as "GB"; where empty the largest binary one that suits them
};

std::string to_text(const Report& report, const TextStyle& style);

/// One JSON object; schema in docs/llmcalc.schema.json, stable shape whatever the flags.
std::string to_json(const Report& report);

/// One file for a browser: no script, nothing fetched.
std::string to_html(const Report& report, const TextStyle& style);

/// The verdict and memory through a step as a picture (SVG 1.1).
std::string to_svg(const Report& report);

/// For a review, in the dialect of GitHub.
std::string to_markdown(const Report& report, const TextStyle& style);

/// A step as Perfetto and chrome://tracing open it.
/// \throws quantity::BadInput where the step is not timed by its program
std::string to_trace(const Report& report);

/// A step as PyTorch's memory_viz opens it: bytes, no text.
/// \throws quantity::BadInput where the step is not walked
std::string to_snapshot(const Report& report);

}  // namespace llmcalc::render
