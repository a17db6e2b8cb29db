#include "llmcalc/read/measured.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/parse.hpp"
#include "llmcalc/quantity/suggest.hpp"
#include "llmcalc/read/csv.hpp"
#include "llmcalc/read/vocabulary.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

struct MeasureName {
  Measure measure;
  std::string_view name;
};
constexpr std::array<MeasureName, 8> measures{{{Measure::peak_allocated, "peak_allocated"},
                                               {Measure::peak_reserved, "peak_reserved"},
                                               {Measure::nvidia_smi, "nvidia_smi"},
                                               {Measure::persistent, "persistent"},
                                               {Measure::fits, "fits"},
                                               {Measure::oom, "oom"},
                                               {Measure::step_time, "step_time"},
                                               {Measure::tokens_per_gpu, "tokens_per_gpu"}}};

/// Columns that are the answer or say where it came from; `params` is for people to read.
constexpr std::array<std::string_view, 9> other_columns{"id",     "quantity", "value",   "step", "source",
                                                        "year",   "quality",  "notes",   "params"};

bool is_question(std::string_view column) {
  return std::ranges::find(other_columns, column) == other_columns.end();
}

void check_column(std::string_view column, std::string_view place) {
  if (!is_question(column) || find_term(column) != nullptr) return;
  auto names = all_term_names();
  names.insert(names.end(), other_columns.begin(), other_columns.end());
  throw BadInput(std::string(place) + ":1", "there is no column '" + std::string(column) + "' in the measured-run schema",
                 quantity::did_you_mean(column, names));
}

/// The header, checked; every column that the answer needs must be there.
void check_header(const CsvRow& header, std::string_view place) {
  for (const auto& column : header.cells) check_column(column, place);
  for (const std::string_view needed : {"quantity", "value"}) {
    if (std::ranges::find(header.cells, needed) == header.cells.end()) {
      throw BadInput(std::string(place) + ":1", "the column '" + std::string(needed) + "' is missing");
    }
  }
}

Measure measure_of(std::string_view word, const std::string& place) {
  const auto found = std::ranges::find(measures, word, &MeasureName::name);
  if (found != measures.end()) return found->measure;
  std::vector<std::string_view> names;
  for (const auto& row : measures) names.push_back(row.name);
  throw BadInput(place, "'" + std::string(word) + "' is not a quantity that can be measured",
                 quantity::did_you_mean(word, names));
}

MeasuredRun read_run(const CsvRow& header, const CsvRow& row, std::string_view file) {
  const std::string line = std::string(file) + ":" + std::to_string(row.line);
  if (row.cells.size() != header.cells.size()) {
    throw BadInput(line, "the row has " + std::to_string(row.cells.size()) + " cells and the header " +
                             std::to_string(header.cells.size()));
  }
  MeasuredRun run;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.cells[i].empty()) continue;
    Given word{header.cells[i], row.cells[i], {Source::row, line + ":" + header.cells[i]}};
    if (is_question(word.term)) run.question.push_back(word);
    run.all.push_back(std::move(word));
  }
  run.id = cell(run, "id");
  run.measure = measure_of(cell(run, "quantity"), line + ":quantity");
  run.value = quantity::parse_number(cell(run, "value"), line + ":value");
  run.first_step = cell(run, "step") == "first";
  return run;
}

}  // namespace

std::string_view name_of(Measure measure) { return std::ranges::find(measures, measure, &MeasureName::measure)->name; }

std::string_view cell(const MeasuredRun& run, std::string_view column) {
  const auto found = std::ranges::find(run.all, column, &Given::term);
  return found == run.all.end() ? std::string_view() : std::string_view(found->text);
}

std::vector<MeasuredRun> read_measured(std::string_view csv, std::string_view place) {
  const auto rows = read_csv(csv, place);
  if (rows.empty()) throw BadInput(std::string(place), "the file has no header");
  check_header(rows.front(), place);
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 1; i < rows.size(); ++i) runs.push_back(read_run(rows.front(), rows[i], place));
  return runs;
}

}  // namespace llmcalc::read
