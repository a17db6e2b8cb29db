// Answers beside that about one run (llmcalc/render/report.hpp), in every form: presets and formats by name, laws of
// scaling, servers, what a search found, many questions a line each, predictions against measurements.
#pragma once

#include "dialects/launch.hpp"
#include "formats/number_format.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/render/report.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/shape.hpp"
#include "search/plan.hpp"
#include "search/server_plan.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "trust/validation.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::render {

/// Everything that is printed about a model preset.
struct ModelCard {
  std::string id;
  std::vector<std::string> aliases;
  std::string hf_id;
  std::string family;
  std::string license;
  spec::Shape shape;
  answer::SizeAnswer size;  ///< counted from the shape
  std::optional<std::int64_t> published_parameters;
  std::string published_text;   ///< "175B", where no integer was published
  std::string published_check;  ///< how far the count agrees
  std::string published_source;
  std::optional<double> training_tokens;
  std::string training_source;
  std::string notes;
  std::string file;
};

/// Everything that is printed about an accelerator preset.
struct AcceleratorCard {
  std::vector<std::string> aliases;
  spec::Accelerator accelerator;
  std::string file;
};

std::string to_text(const ModelCard& model);
std::string to_text(const AcceleratorCard& preset);
std::string to_text(std::span<const ModelCard> models);         ///< a line a model
std::string to_text(std::span<const AcceleratorCard> presets);  ///< a line an accelerator

/// \param version  of the tool
std::string to_json(const ModelCard& card, std::string_view version);
std::string to_json(const AcceleratorCard& card, std::string_view version);
std::string to_json(std::span<const ModelCard> cards, std::string_view version);
std::string to_json(std::span<const AcceleratorCard> cards, std::string_view version);

/// One format; what it makes of a number where one was given and it has an encoding of its own.
struct FormatLine {
  formats::Dtype dtype = formats::Dtype::fp32;
  std::optional<formats::EncodedNumber> number;
};

std::string to_text(std::span<const FormatLine> lines);
std::string to_json(std::span<const FormatLine> lines, std::string_view version);

/// A list of numbers and what quantization makes of them.
struct QuantizedList {
  std::vector<double> given;
  formats::Quantization result;
};

std::string to_text(const QuantizedList& list);
std::string to_json(const QuantizedList& list, std::string_view version);

std::string to_text(const laws::ScaleAnswer& answer, const TextStyle& style);
std::string to_json(const laws::ScaleAnswer& answer, std::string_view version);

/// Everything a renderer may print about one server.
struct ServingReport {
  std::vector<spec::Word> question;
  serving::ServingAnswer answer;
  std::vector<serving::Candidate> advice;    ///< changes that make it fit, or fit more
  std::vector<serving::Candidate> found;     ///< what --find compared, the chosen one marked by `carries`
  std::vector<serving::CardAnswer> cards;    ///< where no accelerator was named
  std::vector<serving::CapacityCell> table;  ///< of --table
  std::optional<search::ServerPlans> plans;  ///< of --find layout
  std::string launch;                        ///< the command that starts this server
  std::vector<std::string> launch_notes;     ///< what to put in it, or do beside it, before it starts anything
  std::string launched_with;                 ///< the change that it makes, where the server as asked does not start
  std::int64_t servers = 1;                  ///< to start with it
  std::string prefill_launch;                ///< the command of those that read prompts for these
  std::int64_t prefill_servers = 0;          ///< to start with it
  std::vector<std::string> warnings;         ///< what the caller should look at
  std::vector<spec::Assumption> assumptions;
  std::string version;  ///< of the tool; JSON names it

  /// Before the command, which is another server's where the one that was asked does not start.
  std::string_view launch_label() const { return launched_with.empty() ? "start" : "so start"; }
};

std::string to_text(const ServingReport& report, const TextStyle& style);

/// One file for a browser: no script, nothing fetched.
std::string to_html(const ServingReport& report, const TextStyle& style);

/// One JSON object; schema in docs/llmcalc.schema.json.
std::string to_json(const ServingReport& report);

/// A run in the vocabulary of `fit`, a value for each term of the report.
struct PlanRow {
  std::vector<std::string> values;
  search::PlannedRun run;
};

struct PlanReport {
  std::string objective;           ///< "step-time"
  std::vector<std::string> terms;  ///< columns of every row
  std::vector<PlanRow> best;
  std::vector<PlanRow> each;  ///< the best of each run that is compared; empty where there is one
  std::vector<PlanRow> front;
  std::optional<PlanRow> nearest;  ///< where nothing keeps a limit of time or cost: the best without it
  std::string nearest_limits;      ///< what would allow that, "--max-days 62"
  std::optional<PlanRow> sure;     ///< where the best fits within its error bar only: the best under --strict
  std::int64_t looked_at = 0;
  std::int64_t fitting = 0;
  bool limited = false;                      ///< a layout that fits may be beyond what a run may take
  std::string never_finishes;                ///< why no layout ends; empty where one does, or none fits
  bool counted = true;                       ///< somebody said how many accelerators there are
  bool grows = false;                        ///< nothing fits of what --largest tries
  std::optional<answer::Estimate> estimate;  ///< of the best run; none when nothing fits
  std::string largest_term;                  ///< what was made as large as fits, if anything
  std::string largest_value;
  std::string fit_command;  ///< that answers with this estimate
  std::vector<dialects::Launch> launch;
  std::vector<spec::Assumption> assumptions;
  std::vector<std::string> warnings;
  std::string version;
};

/// A layout in a few words, of those that tell it apart: "dp 4, tp 2 sp, zero1, micro-batch 2".
std::string layout_words(const PlanReport& report, const PlanRow& row);

std::string to_text(const PlanReport& report, const TextStyle& style);
std::string to_json(const PlanReport& report);

/// One file for a browser: no script, nothing fetched.
std::string to_html(const PlanReport& report, const TextStyle& style);

/// The best runs, then the front, one a line, in the vocabulary of measured runs: `validate` reads such columns.
std::string to_csv(const PlanReport& report);

/// One best run for each pair of values; empty where nothing fits.
struct PlanTable {
  std::string row_term, column_term;
  std::vector<std::string> rows, columns;
  std::vector<std::optional<search::PlannedRun>> cells;  ///< row by row
  std::string objective;
  std::vector<std::string> warnings;
  std::string version;
};

std::string to_text(const PlanTable& table, const TextStyle& style);
std::string to_json(const PlanTable& table);
std::string to_csv(const PlanTable& table);

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

/// The rows, the summary by group, the verdicts, and what was skipped and why.
std::string to_text(const trust::Validation& validation);

/// The summary, the verdicts, what was skipped, and the rows that are furthest off, for
/// tests/measured/predicted.md; empty when there were no rows at all.
std::string to_markdown(const trust::Validation& validation);

/// One JSON object; docs/json.md, kind "validate".
std::string to_json(const trust::Validation& validation, std::string_view version);

/// The file that --calibration reads.
std::string to_calibration(const std::vector<trust::OwnBias>& biases, std::string_view version);

}  // namespace llmcalc::render
