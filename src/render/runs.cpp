// Many questions, a line each: tables, Markdown for a review, JUnit XML for a pipeline.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/answers.hpp"
#include "render/foreign.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::render {
namespace {

using trust::VerdictKind;

std::string verdict_of(const RunLine& line) {
  if (!line.verdict) return "error";
  if (line.verdict->kind != VerdictKind::does_not_fit && !line.reasons.empty()) return "over limit";
  switch (line.verdict->kind) {
    case VerdictKind::fits: return "fits";
    case VerdictKind::tight: return "tight";
    case VerdictKind::does_not_fit: return "does not fit";
    case VerdictKind::no_accelerator: break;
  }
  return "no accelerator";
}

bool is_judged(const RunLine& line) { return line.verdict && line.verdict->kind != VerdictKind::no_accelerator; }

/// Why a run fails, and what helps first.
std::string why(const RunLine& line) {
  auto text = quantity::joined(line.reasons, "; ");
  if (!line.advice.empty()) text += (text.empty() ? "fits with " : "; fits with ") + line.advice;
  return text;
}

/// Nothing is needed where no layout was found.
bool is_there(const RunLine& line, quantity::Bytes answer::Verdict::*figure) {
  return (*line.verdict).*figure > quantity::bytes(0);
}

using answer::Verdict;

std::string gib_of(const RunLine& line, bool known, quantity::Bytes Verdict::*figure) {
  return known && is_there(line, figure) ? in_unit((*line.verdict).*figure, memory_unit_for(quantity::gib(1)))
                                         : std::string();
}

/// Whether a run has the figure: a capacity only where there is one to judge by.
bool is_known(const RunLine& line, quantity::Bytes Verdict::*figure) {
  return figure == &Verdict::capacity ? is_judged(line) : line.verdict.has_value();
}

template <quantity::Bytes Verdict::*figure>
std::string gib(const RunLine& line) {
  return gib_of(line, is_known(line, figure), figure);
}
template <quantity::Bytes Verdict::*figure>
std::string bytes(const RunLine& line) {
  const bool known = is_known(line, figure) && is_there(line, figure);
  return known ? std::to_string(quantity::in_bytes((*line.verdict).*figure)) : std::string();
}

/// A figure in words where there is one.
template <auto figure, auto text>
std::string told(const RunLine& line) {
  return line.*figure ? text(*(line.*figure)) : std::string();
}
template <auto text>
std::string as_field(const RunLine& line) {
  return shown(line.*text, Medium::csv);
}

bool never_ends(quantity::Seconds time) { return std::isinf(quantity::in_seconds(time)); }

std::string duration_of(quantity::Seconds time) { return never_ends(time) ? "never" : quantity::format_duration(time); }

/// Blank where it never ends: a column is numbers alone.
std::string seconds_of(quantity::Seconds time) {
  return never_ends(time) ? std::string() : fmt::format("{}", quantity::in_seconds(time));
}

std::string money_of(quantity::Money money) { return quantity::format_money(money); }
std::string dollars_of(quantity::Money money) { return fmt::format("{}", quantity::in_dollars(money)); }
std::string count_of(std::int64_t count) { return std::to_string(count); }

std::string name_of(const RunLine& line) { return line.name; }
std::string layout_of(const RunLine& line) { return line.layout; }
std::string reasons_of(const RunLine& line) { return shown(quantity::joined(line.reasons, "; "), Medium::csv); }
std::string verdict_id(const RunLine& line) {
  auto words = verdict_of(line);
  std::ranges::replace(words, ' ', '_');
  return words;
}
std::string why_or_error(const RunLine& line) { return line.verdict ? why(line) : line.error; }

/// One figure of a run: what people read, and what programs do.
struct RunColumn {
  Align align;
  std::string_view head;  ///< empty where only programs have it
  std::string_view key;   ///< empty where only people have it
  std::string (*cell)(const RunLine&);
  std::string (*field)(const RunLine&) = nullptr;  ///< where it is another
  int gives_way = 0;  ///< in which turn a screen that is too narrow for all does without it; 0: in none
};

constexpr RunColumn run_columns[] = {
#include "shown/run_columns.inc"
};

/// The columns in which any run has something to read.
std::vector<const RunColumn*> read_by_people(const Runs& runs) {
  std::vector<const RunColumn*> found;
  for (const RunColumn& column : run_columns) {
    const auto says = [&](const RunLine& line) { return !column.cell(line).empty(); };
    if (!column.head.empty() && std::ranges::any_of(runs.lines, says)) found.push_back(&column);
  }
  return found;
}

std::vector<std::string> cells_of(const RunLine& line, const std::vector<const RunColumn*>& told) {
  return quantity::mapped(told, [&](const RunColumn* column) { return column->cell(line); });
}

std::vector<std::string> heads_of(const std::vector<const RunColumn*>& told) {
  return quantity::mapped(told, [](const RunColumn* column) { return std::string(column->head); });
}

std::string test_case(const RunLine& line, bool strict) {
  const auto head = fmt::format("  <testcase classname=\"llmcalc\" name=\"{}\"", shown(line.name, Medium::xml));
  if (!line.verdict)
    return fmt::format("{}><error message=\"{}\"/></testcase>\n", head, shown(shortened(line.error), Medium::xml));
  if (!fails(line, strict)) return head + "/>\n";
  const auto reason = why(line).empty() ? "" : "; " + shown(why(line), Medium::xml);
  const auto gib = [&](quantity::Bytes Verdict::*figure, bool known = true) { return gib_of(line, known, figure); };
  return fmt::format("{}><failure message=\"{}: needs {} of {} GiB, at most {}{}\"/></testcase>\n", head,
                     verdict_of(line), gib(&Verdict::needed), gib(&Verdict::capacity, is_judged(line)),
                     gib(&Verdict::high), reason);
}

std::string table_of(const Runs& runs, const std::vector<const RunColumn*>& told) {
  Table table(quantity::mapped(told, &RunColumn::align), "");
  table.add_row(heads_of(told));
  for (const RunLine& line : runs.lines) table.add_row(cells_of(line, told));
  return table.render();
}

}  // namespace

bool fails(const RunLine& line, bool strict) {
  if (!line.verdict) return false;
  const auto kind = line.verdict->kind;
  return kind == VerdictKind::does_not_fit || !line.reasons.empty() || (strict && kind == VerdictKind::tight);
}

/// A line for each run; below them why some fail and, where the screen is too narrow for it, their layouts.
std::string to_text(const Runs& runs) {
  auto told = read_by_people(runs);
  std::erase_if(told, [](const RunColumn* column) { return column->cell == why_or_error; });
  auto text = table_of(runs, told);
  const int turns = std::ranges::max(run_columns, {}, &RunColumn::gives_way).gives_way;
  for (int turn = 1; turn <= turns && is_too_wide(text); ++turn) {
    std::erase_if(told, [&](const RunColumn* column) { return column->gives_way == turn; });
    text = table_of(runs, told);
  }
  std::string reasons;
  const bool has_layouts = quantity::contains(told, &layout_of, &RunColumn::cell);
  for (const RunLine& line : runs.lines) {
    const auto reason = has_layouts || line.layout.empty() ? why_or_error(line) : line.layout;
    if (!reason.empty()) reasons += wrapped(line.name + ": " + reason, 0, 2) + "\n";
  }
  return on_screen(text + (reasons.empty() ? "" : "\n" + reasons));
}

std::string to_csv(const Runs& runs) {
  const auto told = quantity::mapped_if(
      run_columns, [](const RunColumn& column) { return &column; },
      [](const RunColumn& column) { return !column.key.empty(); });
  auto text = quantity::joined(told, ",", [](const RunColumn* column) { return column->key; }) + "\n";
  for (const RunLine& line : runs.lines) {
    const auto field = [&](const RunColumn* column) { return (column->field ? column->field : column->cell)(line); };
    text += quantity::joined(told, ",", field) + "\n";
  }
  return text;
}

std::string to_markdown(const Runs& runs) {
  const auto told = read_by_people(runs);
  auto text = markdown_row(heads_of(told)) + "|";
  for (const RunColumn* column : told) text += column->align == Align::right ? "---:|" : "---|";
  text += "\n";
  for (const RunLine& line : runs.lines) text += markdown_row(cells_of(line, told));
  return text;
}

std::string to_junit(const Runs& runs) {
  const auto failures =
      std::ranges::count_if(runs.lines, [&](const RunLine& line) { return fails(line, runs.strict); });
  const auto errors = std::ranges::count_if(runs.lines, [](const RunLine& line) { return !line.verdict; });
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"llmcalc\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\">\n",
      runs.lines.size(), failures, errors);
  for (const RunLine& line : runs.lines) text += test_case(line, runs.strict);
  return text + "</testsuite>\n";
}

/// A list of one line, cut around that: what stands before it begins a list of many, what stands behind ends it.
std::string RunPieces::next(const RunLine& line) {
  runs_.lines.assign(1, line);
  const auto one = is_json_ ? to_json(runs_) : to_csv(runs_);
  constexpr std::string_view list = "\"runs\": [";
  const auto begin = is_json_ ? one.find(list) + list.size() : one.find('\n') + 1;
  const auto end = is_json_ ? one.rfind("\n  ]") : one.size();
  end_ = one.substr(end);
  const bool is_first = std::exchange(is_first_, false);
  const auto piece = is_first ? one.substr(0, end) : one.substr(begin, end - begin);
  return is_json_ && !is_first ? "," + piece : piece;
}

}  // namespace llmcalc::render
