// llmcalc validate FILE.csv: predicted against measured, row by row, with a summary.
#include "cli/catalogue.hpp"
#include "cli/files.hpp"
#include "cli/verb.hpp"
#include "llmcalc/answer/validation.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"
#include "llmcalc/read/measured.hpp"
#include "llmcalc/read/resolve.hpp"
#include "llmcalc/render/validation.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;
using read::Measure;

/// --where COLUMN=TEXT: rows whose cell holds the text somewhere.
struct Filter {
  std::string column;
  std::string text;
};

struct Options {
  std::string file;
  std::vector<Filter> filters;
  std::vector<std::string> by;
  std::string_view format;
};

constexpr std::array<std::string_view, 3> formats{"text", "json", "markdown"};
constexpr std::array<std::string_view, 6> group_columns{"framework", "source", "method", "model", "quantity", "quality"};

Filter parse_filter(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) throw BadInput("--where", "expected COLUMN=TEXT, found '" + word + "'");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

Options setup(const Arguments& arguments) {
  Options options;
  const auto& names = arguments.names(1);
  if (names.empty()) throw BadInput("validate", "needs a file of measured runs", "llmcalc validate runs.csv");
  options.file = names.front();
  for (const auto& word : arguments.all("where")) options.filters.push_back(parse_filter(word));
  for (const auto& column : arguments.all("by")) {
    if (std::ranges::find(group_columns, column) == group_columns.end()) {
      throw BadInput("--by", "there are no groups by '" + column + "'", quantity::did_you_mean(column, group_columns));
    }
    options.by.push_back(column);
  }
  options.format = arguments.choice("format", formats);
  return options;
}

bool passes(const read::MeasuredRun& run, const std::vector<Filter>& filters) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    const auto value = read::cell(run, filter.column);
    return filter.text.empty() ? value.empty() : value.find(filter.text) != std::string_view::npos;
  });
}

/// The prediction at the level that was measured; empty where nothing predicts it.
std::optional<quantity::Bytes> predicted_bytes(const answer::Estimate& estimate, const read::MeasuredRun& run) {
  const auto& memory = estimate.memory;
  switch (run.measure) {
    case Measure::peak_allocated:
      return run.first_step ? memory.peak_first_step : memory.peak_allocated;
    case Measure::peak_reserved:
      return memory.peak_reserved;
    case Measure::nvidia_smi:
      return memory.peak_device;
    case Measure::persistent:
      return memory.persistent;
    default:
      return std::nullopt;
  }
}

answer::Comparison compare(const read::MeasuredRun& run, quantity::Bytes predicted, const answer::Verdict& verdict,
                           const std::vector<std::string>& by) {
  answer::Comparison row;
  row.id = run.id;
  row.quantity = read::name_of(run.measure);
  row.measured = run.value;
  row.predicted = static_cast<double>(quantity::in_bytes(predicted));
  row.bar_share = verdict.error_share;
  for (const auto& column : by) row.groups.emplace_back(read::cell(run, column));
  return row;
}

void judge(const read::MeasuredRun& run, const read::Catalogue& catalogue, const std::vector<std::string>& by,
           answer::Validation& validation) {
  const auto resolved = read::resolve(run.question, std::nullopt, catalogue);
  const auto estimate = answer::estimate(resolved.question);
  if (run.measure == Measure::fits || run.measure == Measure::oom) {
    if (estimate.verdict.kind == answer::VerdictKind::no_accelerator) return validation.skip("no accelerator is named");
    return validation.verdicts.count(run.measure == Measure::fits, estimate.verdict.kind);
  }
  const auto predicted = predicted_bytes(estimate, run);
  if (!predicted) return validation.skip(std::string(read::name_of(run.measure)) + " is not predicted yet");
  if (run.value <= 0.0) return validation.skip("the measured value is not positive");
  validation.rows.push_back(compare(run, *predicted, estimate.verdict, by));
}

/// "FILE:LINE:COLUMN: problem" without the line, so that equal reasons are counted together.
std::string reason_of(const BadInput& error) {
  const auto& place = error.place();
  return place.substr(place.rfind(':') + 1) + ": " + error.problem();
}

answer::Validation validate_runs(const Options& options, const std::vector<read::MeasuredRun>& runs,
                                 const read::Catalogue& catalogue) {
  answer::Validation validation;
  for (const auto& run : runs) {
    if (!passes(run, options.filters)) continue;
    try {
      judge(run, catalogue, options.by, validation);
    } catch (const BadInput& error) {
      validation.skip(reason_of(error));
    } catch (const quantity::Overflow& error) {
      validation.skip(error.what());
    }
  }
  validation.summary = answer::summarize(validation.rows);
  validation.groups = answer::group(validation.rows, options.by);
  return validation;
}

std::string show(const answer::Validation& validation, std::string_view format) {
  if (format == "json") return render::to_json(validation, LLMCALC_VERSION);
  return format == "markdown" ? render::to_markdown(validation) : render::to_text(validation);
}

}  // namespace

std::vector<Flag> validate_flags() {
  return {{"where", "COLUMN=TEXT", "only rows whose cell holds the text; may be repeated", "Rows", true},
          {"by", "framework|source|method|model|quantity|quality", "summarize by this column; may be repeated", "Rows",
           true}};
}

Outcome validate(const Arguments& arguments, const Environment& environment) {
  const Options options = setup(arguments);
  const auto runs = read::read_measured(read_file(options.file, "validate"), options.file);
  return {show(validate_runs(options, runs, open_catalogue(arguments, environment)), options.format)};
}

}  // namespace llmcalc::cli
