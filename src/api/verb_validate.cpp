// llmcalc validate FILE...: predicted against measured, row by row, with a summary.
#include "api/inner/validator.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "render/validation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;

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

std::vector<read::MeasuredRun> read_runs(const ValidateRequest& options, const Surroundings& around) {
  std::vector<read::MeasuredRun> runs;
  for (const auto& file : options.files) {
    for (auto& run : read::read_measured(around.text(file, "validate"), file)) {
      const auto passes = [&](const Filter& filter) { return filter.passes(run); };
      if (std::ranges::all_of(options.filters, passes)) runs.push_back(std::move(run));
    }
  }
  return runs;
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

std::vector<Flag> validate_flags() {
  return {{"where", "COLUMN=TEXT", "only rows whose cell holds the text; may be repeated", "Rows", true},
          {"calibrate", "", "write how far your runs were off, for --calibration, instead of the rows", "Output"},
          {"by", "framework|source|method|model|quantity|quality|gpu|engine",
           "summarize by this column; may be repeated", "Rows", true}};
}

Reply ask_validate(const Arguments& arguments, const Surroundings& around) {
  ValidateRequest options = validate_request(arguments);
  const bool calibrates = arguments.has("calibrate");
  if (calibrates) options.by = {"framework"};
  const auto catalogue = around.catalogue(arguments);
  Validator validator(catalogue, options.by);
  const auto runs = read_runs(options, around);
  const auto take_all = [&](const GoesOn& goes_on) {
    for (std::size_t n = 0; n < runs.size(); ++n) {
      const bool goes = goes_on(static_cast<double>(n) / static_cast<double>(runs.size()));
      if (goes) {
        validator.take(runs[n]);
      } else {
        validator.leave_out(runs[n]);
      }
    }
  };
  around.watch(take_all, arguments.has("quiet"));
  trust::Validation validation = std::move(validator).finish();
  refuse_unanswered(validation);
  if (calibrates) return calibration_of(validation);
  return {.show = [validation = std::move(validation)](std::string_view form) { return show(validation, form); }};
}

}  // namespace llmcalc::api
