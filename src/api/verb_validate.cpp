// llmcalc validate FILE...: predicted against measured, row by row, with a summary.

#include "answer/figures.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/rows.hpp"
#include "render/answers.hpp"
#include "serving/answer.hpp"
#include "spec/names.hpp"
#include "trust/error_bar.hpp"
#include "trust/validation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;

/// "FILE:LINE:COLUMN: problem" without file and line, which a contradiction names again, so that equal reasons are
/// counted together.
std::string reason_of(const quantity::BadInput& error) {
  const std::string& place = error.place();
  const std::string row = place.substr(0, place.rfind(':') + 1);
  std::string problem = error.problem();
  constexpr auto nowhere = std::string::npos;
  for (std::size_t at = row.empty() ? nowhere : problem.find(row); at != nowhere; at = problem.find(row, at)) {
    problem.erase(at, row.size());
  }
  return place.substr(row.size()) + ": " + problem;
}

/// A model that is no preset may be known by the id of its checkpoint.
/// \throws quantity::BadInput for a GGUF file whose type is not said: no other word says how large it is
std::vector<read::Given> server_words(const read::MeasuredRun& run) {
  auto words = run.question;
  const std::string id(read::cell(run, "hf_id"));
  if (id.ends_with("-GGUF") && read::cell(run, "quant").empty()) {
    throw quantity::BadInput(run.place + ":quant", "is missing for a GGUF file");
  }
  const auto is_model = [](const read::Given& word) { return word.term == "model" || word.term == "layers"; };
  if (std::ranges::any_of(words, is_model) || id.empty()) return words;
  words.push_back({"model", id, {read::Source::row, run.place + ":hf_id"}});
  return words;
}

/// Numbers of several cards are of one of them where their notes say so, and of all otherwise.
serving::Scope scope_of(const read::MeasuredRun& run) {
  constexpr std::string_view of_one[] = {"one rank", "one card", "per card"};
  const auto is_said = [notes = read::cell(run, "notes")](auto words) { return notes.find(words) != notes.npos; };
  return std::ranges::any_of(of_one, is_said) ? serving::Scope::one_card : serving::Scope::all_cards;
}

/// Measured runs answered one by one, and how far off the answers were.
class Validator {
 public:
  /// \param by  the columns to group by
  Validator(const read::Catalogue& catalogue, std::vector<std::string> by)
      : catalogue_(catalogue), by_(std::move(by)) {}

  /// Answers the row as `fit` answers the same words, or `serve` where it names an engine; one that cannot be answered
  /// is counted with its reason.
  void take(const read::MeasuredRun& run) {
    try {
      if (!read::cell(run, "engine").empty()) return compare_server(run);
      compare(run, answer::estimate(read::resolved_question(run.question, std::nullopt, catalogue_)));
    } catch (const quantity::BadInput& error) {
      skipped_.add(reason_of(error), run.place);
    } catch (const quantity::Overflow&) {
      skipped_.add("the answer has no room in 64 bits", run.place);
    } catch (const std::exception& error) {
      skipped_.add(std::string("internal error: ") + error.what(), run.place);
    }
  }

  /// Counts a row that nobody waited for.
  void leave_out(const read::MeasuredRun& run) { skipped_.add("interrupted before it", run.place); }

  trust::Validation finish() && {
    validation_.summary = trust::summarize(validation_.rows);
    validation_.configurations = trust::summarize(trust::by_configuration(validation_.rows));
    validation_.groups = trust::group(validation_.rows, by_);
    validation_.skipped = skipped_.most_frequent_first();
    return std::move(validation_);
  }

 private:
  void compare(const read::MeasuredRun& run, const answer::Estimate& estimate) {
    if (is_verdict(run.measure)) return judge(run, estimate.verdict.kind);
    const auto predicted = answer::predicted(estimate, run.measure, run.step);
    if (!predicted) return skipped_.add("a time needs an accelerator", run.place);
    add(run, *predicted, error_bar(estimate, run.measure));
  }

  void compare_server(const read::MeasuredRun& run) {
    const auto server = serving::serve(read::resolve_serving(server_words(run), std::nullopt, catalogue_).question);
    if (is_verdict(run.measure)) return judge(run, server.verdict);
    if (!(run.value > 0.0)) return skipped_.add("no percentage of what is not more than nothing", run.place);
    const auto predicted = serving::predicted(server, run.measure, scope_of(run));
    if (!predicted) return skipped_.add(std::string(spec::name_of(run.measure)) + " is not predicted", run.place);
    add(run, *predicted, serving::error_bar(server.deployment, run.measure));
  }

  void add(const read::MeasuredRun& run, double predicted, const trust::Spread& bar) {
    validation_.rows.push_back({.id = run.id,
                                .place = run.place,
                                .measure = run.measure,
                                .measured = run.value,
                                .predicted = predicted,
                                .bar = bar,
                                .configuration = read::configuration(run),
                                .groups = groups_of(run)});
  }

  void judge(const read::MeasuredRun& run, trust::VerdictKind verdict) {
    using trust::VerdictKind;
    if (verdict == VerdictKind::no_accelerator) return skipped_.add("a verdict needs an accelerator", run.place);
    validation_.judged.push_back({run.id, run.place, trust::judgement_on(run.measure == spec::Measure::fits, verdict)});
  }

  std::vector<std::string> groups_of(const read::MeasuredRun& run) const {
    return quantity::mapped(by_, [&](const auto& column) { return std::string(read::cell(run, column)); });
  }

  const read::Catalogue& catalogue_;
  std::vector<std::string> by_;
  trust::Validation validation_;
  trust::SkippedRows skipped_;
};

/// --where COLUMN=TEXT: rows whose cell holds the text somewhere; with an empty text those that leave it blank.
struct Filter {
  std::string column;
  std::string text;

  bool passes(const read::MeasuredRun& run) const {
    const auto value = read::cell(run, column);
    return text.empty() ? value.empty() : value.find(text) != std::string_view::npos;
  }
};

struct ValidateRequest {
  std::vector<std::string> files;
  std::vector<Filter> filters;
  std::vector<std::string> by;
};

constexpr std::array<std::string_view, 8> group_columns{"framework", "source",  "method", "model",
                                                        "quantity",  "quality", "gpu",    "engine"};

Filter parse_filter(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) throw BadInput("--where", "expected COLUMN=TEXT, found '" + word + "'");
  return {read::column_name(word.substr(0, equals), "--where"), word.substr(equals + 1)};
}

std::string parse_group(const std::string& word) {
  if (quantity::contains(group_columns, word)) return word;
  const auto columns = quantity::joined(group_columns, ", ");
  throw BadInput("--by", "there are no groups by " + quantity::quoted(word) + ", but by " + columns,
                 quantity::did_you_mean(word, group_columns));
}

ValidateRequest validate_request(const Arguments& arguments) {
  ValidateRequest options;
  options.files = arguments.names(std::numeric_limits<std::size_t>::max());
  if (options.files.empty()) throw BadInput("validate", "needs a file of measured runs", "llmcalc validate runs.csv");
  for (const auto& word : arguments.all("where")) options.filters.push_back(parse_filter(word));
  for (const auto& word : arguments.all("by")) options.by.push_back(parse_group(word));
  return options;
}

/// The files' rows, of which one is held at a time.
std::vector<read::MeasuredRows> open_files(const ValidateRequest& options, const Surroundings& around) {
  return quantity::mapped(
      options.files, [&](const std::string& file) { return read::MeasuredRows(around.text(file, "validate"), file); });
}

/// Answers the rows that pass every filter.
void take_all(std::vector<read::MeasuredRows> files, const ValidateRequest& options, Validator& validator,
              const GoesOn& goes_on) {
  double all = 0;
  for (const auto& file : files) all += static_cast<double>(file.count());
  double done = 0;
  for (auto& file : files) {
    for (std::size_t n = 0; n < file.count(); ++n) {
      const bool goes = goes_on(done++ / all);
      const auto run = file.next();
      const auto passes = [&](const Filter& filter) { return filter.passes(run); };
      if (!std::ranges::all_of(options.filters, passes)) continue;
      if (goes) {
        validator.take(run);
      } else {
        validator.leave_out(run);
      }
    }
  }
}

/// Rows of which none can be answered are no validation.
void refuse_unanswered(const trust::Validation& validation) {
  if (validation.skipped.empty() || !validation.rows.empty() || !validation.judged.empty()) return;
  std::int64_t rows = 0;
  for (const auto& skipped : validation.skipped) rows += skipped.count;
  const trust::Skipped& first = validation.skipped.front();
  throw BadInput("validate", "none of " + std::to_string(rows) + " rows can be answered; " +
                                 std::to_string(first.count) + " of them: " + first.reason + " (first in " +
                                 first.first_place + ")");
}

std::string show(const trust::Validation& validation, std::string_view format) {
  if (format == "json") return render::to_json(validation, version());
  return format == "markdown" ? render::to_markdown(validation) : render::to_text(validation);
}

/// The calibration, and beside it of which frameworks there are too few rows.
Reply calibration_of(const trust::Validation& validation) {
  const auto biases = trust::own_biases(validation.rows);
  Reply reply;
  bool is_empty = true;
  const auto tell = [&](const trust::OwnBias& own, std::string_view figure, const spec::Bias& bias, std::int64_t runs) {
    is_empty = is_empty && !bias.is_known();
    if (runs == 0 || bias.is_known()) return;
    reply.notes.push_back(own.framework + ": " + std::to_string(runs) + " rows of its " + std::string(figure) +
                          " are fewer than the " + std::to_string(spec::Bias::fewest_runs) + " that it takes");
  };
  for (const trust::OwnBias& own : biases) {
    tell(own, "memory", own.calibration.memory, own.memory_runs);
    tell(own, "time", own.calibration.time, own.time_runs);
  }
  if (is_empty) {
    throw BadInput("--calibrate", "no framework has " + std::to_string(spec::Bias::fewest_runs) +
                                      " rows of its memory or of its time");
  }
  reply.show = [biases](std::string_view) { return render::to_calibration(biases, version()); };
  return reply;
}

}  // namespace

Reply ask_validate(const Arguments& arguments, const Surroundings& around) {
  ValidateRequest options = validate_request(arguments);
  const bool calibrates = arguments.has("calibrate");
  if (calibrates) options.by = {"framework"};
  const auto catalogue = around.catalogue(arguments);
  Validator validator(catalogue, options.by);
  auto files = open_files(options, around);
  around.watch([&](const GoesOn& goes_on) { take_all(std::move(files), options, validator, goes_on); },
               arguments.has("quiet"));
  trust::Validation validation = std::move(validator).finish();
  refuse_unanswered(validation);
  if (calibrates) return calibration_of(validation);
  return {.show = [validation = std::move(validation)](std::string_view form) { return show(validation, form); }};
}

}  // namespace llmcalc::api
