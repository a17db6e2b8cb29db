#include "read/rows.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "read/settings.hpp"
#include "read/words/terms.hpp"

#include <array>
#include <iterator>
#include <utility>

namespace llmcalc::read {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view place) : text_(text), place_(place) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  /// Nothing behind the last.
  std::optional<CsvRow> next() {
    while (!at_end()) {
      if (!take_line_end()) return next_row();
    }
    return std::nullopt;
  }

 private:
  CsvRow next_row() {
    CsvRow row{line_, {}};
    do {
      row.cells.push_back(next_is('"') ? quoted_cell() : plain_cell());
    } while (take(','));
    if (!at_end() && !take_line_end()) fail(line_, at_, "text follows a closing quote");
    return row;
  }

  std::string plain_cell() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted_cell() {
    const std::int64_t line = line_;
    const std::size_t opened = at_ - line_begin_;
    std::string cell;
    ++at_;
    while (!at_end()) {
      const std::size_t begin = at_;
      if (take_line_end()) {
        cell += text_.substr(begin, at_ - begin);
      } else if (!take('"')) {
        cell += text_[at_++];
      } else if (take('"')) {
        cell += '"';
      } else {
        return cell;
      }
    }
    fail(line, line_begin_ + opened, "a quote is never closed");
  }

  bool at_end() const { return at_ == text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }

  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }

  bool take_line_end() {
    const bool carriage_return = take('\r');
    if (!take('\n') && !carriage_return) return false;
    ++line_;
    line_begin_ = at_;
    return true;
  }

  /// \param at  a byte of the text, after the beginning of the line that is being read
  [[noreturn]] void fail(std::int64_t line, std::size_t at, const char* problem) const {
    const auto byte = std::to_string(at - line_begin_ + 1);
    throw quantity::BadInput(std::string(place_) + ":" + std::to_string(line) + ":" + byte, problem);
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, std::string_view place) {
  CsvReader reader(text, place);
  std::vector<CsvRow> rows;
  while (auto row = reader.next()) rows.push_back(*std::move(row));
  return rows;
}

using quantity::BadInput;
using spec::Measure;

/// A file that is read anew where its rows are asked for, so that one of them is held at a time.
struct CsvFile {
  CsvFile(std::string whole, std::string_view named) : text(std::move(whole)), place(named), reader(text, place) {}

  std::string text;
  std::string place;
  CsvReader reader;
  CsvRow header;          ///< without cells where the file has none
  std::size_t count = 0;  ///< rows below the header

  /// Stands behind the header, which is read once.
  void begin() {
    reader = CsvReader(text, place);
    if (auto row = reader.next(); row && header.cells.empty()) header = *std::move(row);
  }

  std::string place_of(const CsvRow& row) const { return place + ":" + std::to_string(row.line); }

  /// The next row, which has as many cells as the header.
  std::optional<CsvRow> next() {
    auto row = reader.next();
    if (row && row->cells.size() != header.cells.size()) {
      throw BadInput(place_of(*row), "the row has " + std::to_string(row->cells.size()) + " cells and the header " +
                                         std::to_string(header.cells.size()));
    }
    return row;
  }

  /// Looks at every row once.
  template <class Look>
  void check(const Look& look) {
    for (; const auto row = next(); ++count) look(*row);
    begin();
  }
};

namespace {

/// Columns that are the answer or say where it came from. `params` is for people: the shape says how many there are.
constexpr std::string_view other_columns[] = {"id",   "quantity", "value", "step",   "source",
                                              "year", "quality",  "notes", "params", "hf_id"};

/// Shorthands that a cell can hold: config names a file, which only the command line opens.
constexpr std::string_view shorthand_columns[] = {"dtype", "zero"};

/// Sheets end in columns without a name.
void refuse_repeated(const std::vector<std::string>& columns, const std::string& place) {
  for (const auto& column : columns) {
    if (column.empty() || std::ranges::count(columns, column) == 1) continue;
    throw BadInput(place, "the column '" + column + "' is there twice");
  }
}

/// The names of the columns; those that every row needs must be there, and none twice.
std::vector<std::string> columns_of(const CsvRow& row, const std::string& place) {
  auto columns = quantity::mapped(row.cells, [&](const auto& written) { return column_name(written, place); });
  refuse_repeated(columns, place);
  for (const char* needed : {"quantity", "value"}) {
    if (!quantity::contains(columns, needed)) {
      throw BadInput(place, "the column '" + std::string(needed) + "' is missing");
    }
  }
  return columns;
}

/// A saving of an engine, after against before, is a measurement as well; no percentage is.
double read_difference(std::string_view text, const std::string& place) {
  const bool negative = text.starts_with('-');
  const auto size =
      static_cast<double>(quantity::in_bytes(quantity::parse_bytes(negative ? text.substr(1) : text, place)));
  return negative ? -size : size;
}

double read_value(Measure measure, std::string_view text, const std::string& place) {
  if (measure == Measure::cuda_graphs) return read_difference(text, place);
  const double value = is_memory(measure) ? static_cast<double>(quantity::in_bytes(quantity::parse_bytes(text, place)))
                                          : Number::read(text, place);
  if (is_verdict(measure) && value != 1.0) {
    throw BadInput(place, "is 1 for fits and oom, found '" + std::string(text) + "'");
  }
  return check_limits(value, std::numeric_limits<double>::min(), max_amount, text, place);
}

std::string place_of(const MeasuredRun& run, std::string_view column) { return run.place + ":" + std::string(column); }

void take_cell(MeasuredRun& run, const std::string& column, const std::string& text) {
  if (text.empty()) return;
  if (!quantity::contains(other_columns, column))
    run.question.push_back({column, text, {Source::row, place_of(run, column)}});
  run.cells.push_back({column, text});
}

/// A server that did not start is written as "fits 0".
bool did_not_start(const MeasuredRun& run) {
  return run.measure == Measure::fits && cell(run, "value") == "0" && !cell(run, "engine").empty();
}

MeasuredRun as_failed(MeasuredRun run) {
  run.measure = Measure::oom;
  run.value = 1.0;
  return run;
}

MeasuredRun read_run(const std::vector<std::string>& columns, const CsvRow& row, std::string place) {
  MeasuredRun run;
  run.place = std::move(place);
  for (std::size_t i = 0; i < row.cells.size(); ++i) take_cell(run, columns[i], quantity::printable(row.cells[i]));
  run.id = cell(run, "id");
  run.measure = Word<Measure>::read(cell(run, "quantity"), place_of(run, "quantity"));
  if (did_not_start(run)) return as_failed(std::move(run));
  run.value = read_value(run.measure, cell(run, "value"), place_of(run, "value"));
  const auto step = cell(run, "step");
  if (!step.empty()) run.step = Word<spec::Step>::read(step, place_of(run, "step"));
  return run;
}

}  // namespace

std::string_view cell(const MeasuredRun& run, std::string_view column) {
  const auto* found = quantity::find_or_null(run.cells, column, &Given::term);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

std::string configuration(const MeasuredRun& run) {
  constexpr std::string_view mark = "config-group: ";
  const std::string_view notes = cell(run, "notes");
  const auto found = notes.find(mark);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = notes.substr(found + mark.size());
  return std::string(rest.substr(0, rest.find_first_of("; |")));
}

std::string column_name(std::string_view written, std::string_view place) {
  if (const Term* term = find_term(written)) return std::string(term->name);
  if (quantity::contains(other_columns, written) || quantity::contains(shorthand_columns, written))
    return std::string(written);
  std::vector<std::string_view> names(std::begin(other_columns), std::end(other_columns));
  quantity::append(names, shorthand_columns);
  for (const Term& term : vocabulary()) names.push_back(term.name);
  for (const Term& term : serving_vocabulary()) names.push_back(term.name);
  throw BadInput(std::string(place), "there is no column '" + std::string(written) + "' in the measured-run schema",
                 quantity::did_you_mean(written, names));
}

MeasuredRows::MeasuredRows(std::string csv, std::string_view place)
    : file_(std::make_unique<CsvFile>(std::move(csv), quantity::printable(place))) {
  CsvFile& file = *file_;
  file.begin();
  if (file.header.cells.empty()) throw BadInput(file.place, "the file has no header");
  file.header.cells = columns_of(file.header, file.place_of(file.header));
  file.check([&](const CsvRow& row) { read_run(file.header.cells, row, file.place_of(row)); });
}

MeasuredRows::MeasuredRows(MeasuredRows&&) noexcept = default;
MeasuredRows::~MeasuredRows() = default;

std::size_t MeasuredRows::count() const { return file_->count; }

MeasuredRun MeasuredRows::next() {
  const CsvRow row = *file_->next();
  return read_run(file_->header.cells, row, file_->place_of(row));
}

namespace {

constexpr std::string_view example = "a header of options, as model,gpu,seq, and a row a run";

void put(RunRow& row, std::string_view key, const std::string& text, std::string where) {
  if (text.empty()) return;
  if (key == "id") {
    row.name = text;
  } else {
    row.words.push_back({with_underscores(key), text, {Source::row, std::move(where)}});
  }
}

/// The list itself, or the one below a key "runs".
const Node& list_of(const Node& file, const std::string& place) {
  const Node* list = file.kind == Node::Kind::table ? file.find("runs") : &file;
  if (list != nullptr && list->kind == Node::Kind::list && !list->items.empty()) return *list;
  throw BadInput(place, "has no list of runs", "entries as - {model: llama-3.1-8b, gpu: rtx-4090, seq: 4096}");
}

std::vector<RunRow> rows_of_yaml(std::string_view text, const std::string& place) {
  const Node file = parse_yaml(text, place);
  std::vector<RunRow> runs;
  for (const Node& entry : list_of(file, place).items) {
    if (entry.kind != Node::Kind::table) throw BadInput(entry.where, "is no table of options");
    RunRow run{entry.where, {}};
    const Settings settings = flat(entry);
    for (const Setting& setting : settings.all()) put(run, setting.key, setting.text, setting.where);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

constexpr std::array<std::string_view, 3> endings_of_yaml{".yaml", ".yml", ".json"};

struct RunRows::Parts : CsvFile {
  using CsvFile::CsvFile;

  std::vector<RunRow> listed;  ///< of YAML
  std::size_t taken = 0;

  RunRow run_of(const CsvRow& row) const {
    const auto line = place_of(row);
    RunRow run{line, {}};
    for (std::size_t column = 0; column < row.cells.size(); ++column) {
      put(run, header.cells[column], row.cells[column], line + ":" + header.cells[column]);
    }
    return run;
  }
};

RunRows::RunRows(std::string text, std::string_view place) : parts_(std::make_unique<Parts>(std::move(text), place)) {
  Parts& parts = *parts_;
  const bool is_list = parts.text.starts_with('-') || parts.text.starts_with('[');  // of what is piped in
  if (is_list || std::ranges::any_of(endings_of_yaml, [&](auto ending) { return place.ends_with(ending); })) {
    parts.listed = rows_of_yaml(parts.text, parts.place);
    parts.count = parts.listed.size();
    return;
  }
  parts.begin();
  refuse_repeated(quantity::mapped(parts.header.cells, with_underscores), parts.place_of(parts.header));
  parts.check([](const CsvRow&) {});
  if (parts.count == 0) throw BadInput(parts.place, "has no rows", std::string(example));
}

RunRows::~RunRows() = default;

std::size_t RunRows::count() const { return parts_->count; }

RunRow RunRows::next() {
  Parts& parts = *parts_;
  return parts.listed.empty() ? parts.run_of(*parts.next()) : std::move(parts.listed[parts.taken++]);
}

std::vector<RunRow> read_run_rows(std::string_view text, std::string_view place) {
  RunRows rows(std::string(text), place);
  std::vector<RunRow> all;
  while (all.size() < rows.count()) all.push_back(rows.next());
  return all;
}

namespace {

/// The number that a request has in a column.
template <class Kind>
auto amount(const RunRow& row, std::string_view column) {
  const Given* word = find_word(row.words, column);
  if (word == nullptr)
    throw BadInput(row.name, "has no " + std::string(column),
                   "a header of arrival,prompt,output, and a row a request: seconds, and tokens twice");
  return Kind::read(word->text, word->origin.where);
}

}  // namespace

std::vector<spec::Request> read_requests(std::string_view text, std::string_view place) {
  std::vector<spec::Request> requests;
  for (const RunRow& row : read_run_rows(text, place)) {
    const double arrival = amount<Number>(row, "arrival");
    requests.push_back({arrival, amount<Whole<1>>(row, "prompt"), amount<Whole<1>>(row, "output")});
  }
  std::ranges::stable_sort(requests, {}, &spec::Request::arrival);
  const double first = requests.front().arrival;
  for (spec::Request& each : requests) each.arrival -= first;
  return requests;
}

}  // namespace llmcalc::read
