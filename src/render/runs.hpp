// Many questions, a line each: for scripts, reviews and test reports.
#pragma once

#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::render {

/// The facts that are told of one run.
struct RunLine {
  std::string name;                        ///< what tells it from the others: an accelerator, a row's id
  std::optional<answer::Verdict> verdict;  ///< none where the question could not be answered
  std::optional<quantity::Seconds> step;
  std::optional<quantity::Seconds> total;  ///< wall time of the whole run
  std::optional<quantity::Money> cost;
  std::optional<quantity::Seconds> first_token;  ///< of a server under its load, as the next three
  std::optional<quantity::Seconds> token;        ///< each later one
  std::optional<quantity::Money> token_cost;     ///< of a million tokens of output with their prompts
  std::optional<std::int64_t> at_once;           ///< requests of the context for which there is memory
  std::string layout;                            ///< of a plan, the best in a few words
  std::vector<std::string> reasons;              ///< limits that it does not keep
  std::string advice;                            ///< the first change with which it fits, as options
  std::string error;                             ///< why not
};

struct Runs {
  std::vector<RunLine> lines;
  bool strict = false;  ///< a fit inside the error bar is a failure
  std::string version;
};

/// Whether a run counts as one that does not fit.
bool fails(const RunLine& line, bool strict);

std::string to_text(const Runs& runs);
std::string to_markdown(const Runs& runs);
std::string to_csv(const Runs& runs);
std::string to_json(const Runs& runs);

/// A list in a form in which each line is what it is whatever the others are, a piece a line.
class RunPieces {
 public:
  static bool has(std::string_view form) { return form == "csv" || form == "json"; }

  /// \pre has(form)
  /// \param runs  without lines
  RunPieces(std::string_view form, Runs runs) : is_json_(form == "json"), runs_(std::move(runs)) {}

  std::string next(const RunLine& line);  ///< the first with what stands in front of all
  std::string end() const { return end_; }

 private:
  bool is_json_;
  Runs runs_;
  std::string end_;  ///< known behind the first
  bool is_first_ = true;
};

/// The JUnit XML that GitHub, GitLab and Jenkins read: a test case each, failures for runs that do not fit and errors
/// for questions without an answer.
std::string to_junit(const Runs& runs);

}  // namespace llmcalc::render
