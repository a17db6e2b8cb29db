#include "cli/flags.hpp"

#include "read/vocabulary.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

std::string_view heading_of(read::TermGroup group) {
  switch (group) {
    case read::TermGroup::model: return "Model";
    case read::TermGroup::run: return "Run";
    case read::TermGroup::engine: return "Engine";
    case read::TermGroup::load: return "Load";
    case read::TermGroup::layout: return "Layout";
    case read::TermGroup::hardware: return "Hardware";
    case read::TermGroup::answer: return "Answer";
  }
  return {};
}

Flag flag_of(const read::Shorthand& word) {
  return {read::option_name(word.name), std::string(word.values), word.help, heading_of(word.group)};
}

Flag flag_of(const read::Term& term) {
  return {read::option_name(term.name), read::values_of(term), term.help, heading_of(term.group)};
}

std::vector<Flag> source_flags() {
  return {{"from", "file, folder, command or org/name", "what you have already; may be repeated", "Model", true},
          {"offline", "", "models of the Hub from its cache alone, without the network", "Model"},
          {"show-question", "", "the question as a command, without its answer", "Output"}};
}

}  // namespace

std::vector<Flag> common_flags(std::string_view formats) {
  return {
      {"format", std::string(formats), "form of the answer", "Output"},
      {"quiet", "", "print nothing: the exit code is the answer", "Output"},
      {"color", "auto|always|never", "colours; auto: on a terminal without NO_COLOR", "Output"},
      {"presets", "folder", "presets that add to and override the built-in ones", "Output"},
      {"help", "", "this text; -h: the usual options", "Output"},
  };
}

Flag calibration_flag() {
  return {"calibration", "file", "how far your own runs were off (validate --calibrate); none: leave them out",
          "Output"};
}

std::vector<Flag> question_flags() {
  std::vector<Flag> flags = source_flags();
  for (const auto& word : read::shorthands()) flags.push_back(flag_of(word));
  for (const auto& term : read::vocabulary()) flags.push_back(flag_of(term));
  return flags;
}

std::vector<Flag> serving_question_flags() {
  std::vector<Flag> flags = source_flags();
  for (const auto& word : read::shorthands()) {
    if (read::describes_model(word)) flags.push_back(flag_of(word));
  }
  for (const auto& term : read::serving_vocabulary()) flags.push_back(flag_of(term));
  return flags;
}

std::vector<Flag> fit_flags() {
  std::vector<Flag> flags = question_flags();
  flags.push_back({"full", "", "every table instead of one screen", "Output"});
  flags.push_back({"explain", "", "formula, numbers and source of every line", "Output"});
  flags.push_back(calibration_flag());
  flags.push_back({"timeline", "", "draw the memory of a step, block by block", "Output"});
  flags.push_back({"unit", "GiB|GB|MiB|MB|TiB|TB", "of all memory figures; JSON has bytes", "Output"});
  flags.push_back({"rows", "file", "questions in CSV, a row each, its header the options, or a YAML list", "Output"});
  flags.push_back({"strict", "", "a fit inside the error bar is a failure (exit 1)", "Output"});
  return flags;
}

}  // namespace llmcalc::cli
