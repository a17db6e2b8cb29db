// Files of rows: comma-separated values as RFC 4180 has them; measured runs in the project's own schema
// (docs/validate.md); and questions, a row each.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "read/words.hpp"
#include "spec/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct CsvRow {
  std::int64_t line = 0;  ///< of the file, counted from 1, on which the row begins
  std::vector<std::string> cells;
};

/// Reads all rows, the header included. Quoted cells may hold commas, doubled quotes and line breaks; a quote inside a
/// cell that does not begin with one is a character like any other. Lines end in LF, CR LF or CR; a byte-order mark
/// and empty lines are skipped.
/// \param place  the file's name, for messages
/// \throws quantity::BadInput with FILE:LINE:BYTE when a quote is not closed or text follows a closing quote
std::vector<CsvRow> read_csv(std::string_view text, std::string_view place);

struct MeasuredRun {
  std::string id;
  std::string place;            ///< "runs.csv:12"
  std::vector<Given> question;  ///< the cells of the question that are not blank; their origin is "runs.csv:12:seq"
  spec::Measure measure = spec::Measure::peak_allocated;
  spec::Step step = spec::Step::steady;  ///< also where the row does not say
  double value = 0.0;                    ///< bytes, 1, seconds, or tokens per second and accelerator; more than 0
  std::vector<Given> cells;              ///< all that are not blank, by column, for filters and groups
};

/// The text of a column, empty where the row leaves it blank.
std::string_view cell(const MeasuredRun& run, std::string_view column);

/// The name that rows of one run repeated over releases have in common: the "config-group: NAME" of their notes; empty
/// otherwise.
std::string configuration(const MeasuredRun& run);

/// The schema's name of a column: "kv-heads" is "kv_heads".
/// \throws quantity::BadInput at `place` with the nearest names when the schema has no such column
std::string column_name(std::string_view written, std::string_view place);

struct CsvFile;

/// The measured runs of a file, of which one is held at a time.
class MeasuredRows {
 public:
  /// \param place  the file's name
  /// \throws quantity::BadInput for an unknown, missing or repeated column, a row of the wrong length, and an answer
  ///         that cannot be read, in whichever row; whether the question can be answered is for resolve() to say
  MeasuredRows(std::string csv, std::string_view place);
  MeasuredRows(MeasuredRows&&) noexcept;
  ~MeasuredRows();

  std::size_t count() const;
  /// \pre it is asked for no more than there are
  MeasuredRun next();

 private:
  std::unique_ptr<CsvFile> file_;
};

/// The words of one row or entry.
struct RunRow {
  std::string name;  ///< its id, else its place
  std::vector<Given> words;
};

/// The questions of a file, of which one is held at a time where it is one of comma-separated values.
class RunRows {
 public:
  /// \param place  the file's name; one that ends in .yaml, .yml or .json is read as YAML, which JSON is a part of
  /// \throws quantity::BadInput with the place of what cannot be read, in whichever row
  RunRows(std::string text, std::string_view place);
  ~RunRows();

  std::size_t count() const;
  /// \pre it is asked for no more than there are
  RunRow next();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// All of them at once.
/// \throws quantity::BadInput with the place of what cannot be read
std::vector<RunRow> read_run_rows(std::string_view text, std::string_view place);

/// Requests of a trace: columns arrival (seconds), prompt and output (tokens), beside which others may stand. In the
/// order of their arrivals, of which the first is 0.
/// \throws quantity::BadInput with the place of what is missing or cannot be read
std::vector<spec::Request> read_requests(std::string_view text, std::string_view place);

}  // namespace llmcalc::read
