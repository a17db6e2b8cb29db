// llmcalc plan: the best layout of a run, and the questions that a search over layouts answers.

#include "api/inner/limits.hpp"
#include "api/inner/many_runs.hpp"
#include "api/inner/planner.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "render/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;
using read::Given;
using search::Objective;

constexpr double hours_a_day = 24.0;

template <class Report>
std::function<std::string(std::string_view)> shown(Report report, const render::TextStyle& style) {
  return [report = std::move(report), style](std::string_view form) {
    if (form == "json") return render::to_json(report);
    if constexpr (std::is_same_v<Report, render::PlanReport>) {
      if (form == "html") return render::to_html(report, style);
    }
    return form == "csv" ? render::to_csv(report) : render::to_text(report, style);
  };
}

Reply reply_of(render::PlanReport report, const PlanOptions& options) {
  Reply reply;
  reply.code = report.best.empty() ? ExitCode::does_not_fit : ExitCode::fits;
  if (options.format == "csv") reply.notes = render::sentences(report.assumptions);  // a table has no place for them
  reply.warnings = report.warnings;
  for (const dialects::Launch& launch : report.launch) {
    for (auto& [name, text] : dialects::files_of(launch)) reply.files.push_back({name, text});
  }
  reply.show = shown(std::move(report), options.style);
  return reply;
}

void warn_of_interrupt(double share, std::vector<std::string>& warnings) {
  if (share < 1.0) warnings.push_back("interrupted: only " + quantity::format_percent(share) + " was searched");
}

/// No pipeline is legal, so there is nothing to search.
void refuse_barrier(const search::PlanSpace& space) {
  const frameworks::LayoutRule* rule = space.barrier();
  if (rule == nullptr) return;
  throw BadInput(spec::option_of(rule->term),
                 "leaves no layout: it contradicts " + std::string(rule->other) + ": " + std::string(rule->why),
                 std::string(rule->hint));
}

/// Three digits that are enough, "61.4" for 61.32.
std::string at_most(double figure) {
  const double unit = quantity::pow(10.0, std::floor(quantity::log10(figure)) - 2.0);
  const double enough = std::ceil(figure / unit) * unit;
  return enough < 1000.0 ? fmt::format("{:.6g}", enough) : fmt::format("{:.0f}", enough);
}

/// Where memory lets a run through and its time or cost does not: the best without these limits, and what it takes of
/// those that it breaks.
void find_nearest(const Planner& planner, const read::PlanWords& plan, const PlanOptions& options,
                  const Sources& sources, render::PlanReport& report) {
  const auto& limits = options.asked.limits;
  if (!report.best.empty() || !report.counted || !(limits.time || limits.cost)) return;
  PlanOptions unlimited = options;
  unlimited.asked.limits.time.reset();
  unlimited.asked.limits.cost.reset();
  unlimited.asked.objective = limits.time ? Objective::step_time : Objective::cost;
  unlimited.search.is_quiet = true;
  const FitSource source = planner.source();
  const auto space = Planner(unlimited, sources, source.config).space(plan);
  const auto found = sources.around.search(space, unlimited.search).findings.best;
  if (found.empty()) return;
  const auto& run = found.front();
  add_nearest({options.words, source}, plan, space, run, report);
  std::vector<std::string> broken;
  if (limits.time && run.total > *limits.time)
    broken.push_back("--max-days " + at_most(quantity::in_hours(run.total) / hours_a_day));
  if (limits.cost && run.cost && *run.cost > *limits.cost)
    broken.push_back("--max-cost " + at_most(in_dollars(*run.cost)));
  report.nearest_limits = quantity::joined(broken, " ");
}

Reply search_once(const Planner& planner, const PlanOptions& options, const Sources& sources) {
  const auto words = options.largest == Largest::nothing ? options.words : planner.grown(options.words);
  const read::PlanWords plan = planner.bases(words);
  const search::PlanSpace space = planner.space(plan);
  refuse_barrier(space);
  const Searched searched = sources.around.search(space, options.search);
  render::PlanReport report = plan_report({words, planner.source()}, plan, space, searched.findings);
  if (options.largest != Largest::nothing) {
    const Given& tried = words.back();  // where grown() puts it
    if (report.estimate) {
      report.largest_term = tried.term;
      report.largest_value = tried.text;
    } else {
      report.assumptions.push_back({"the least that --largest tries", tried.term, tried.text});
      report.grows = true;
    }
  }
  if (options.largest != Largest::nothing || searched.share < 1.0) report.sure.reset();
  warn_of_interrupt(searched.share, report.warnings);
  find_nearest(planner, plan, options, sources, report);
  return reply_of(std::move(report), options);
}

/// The best layout of one row.
render::RunLine line_of(const NamedRun& run, const AskedQuestion& asked, PlanOptions options, const Sources& sources) {
  AskedQuestion own = asked;
  own.words = run.words;
  own.config = run.config(asked, sources.around);
  options.words = searched_words(own);
  options.search.is_quiet = true;
  const Planner planner(options, sources, own.config);
  const read::PlanWords plan = planner.bases(options.words);
  const search::PlanSpace space = planner.space(plan);
  refuse_barrier(space);
  const Searched searched = sources.around.search(space, options.search);
  const auto report = plan_report({options.words, planner.source()}, plan, space, searched.findings);
  render::RunLine line;
  if (!report.estimate) {
    line.verdict.emplace().kind = trust::VerdictKind::does_not_fit;
    line.reasons = {"no layout is within the limits"};
    return line;
  }
  line.verdict = report.estimate->verdict;
  line.step = report.estimate->compute.step;
  line.total = report.estimate->compute.total;
  line.cost = report.estimate->compute.cost;
  line.layout = layout_words(report, report.best.front());
  return line;
}

Reply plan_each(const Arguments& arguments, const AskedQuestion& asked, const PlanOptions& options,
                const Sources& sources) {
  if (options.largest != Largest::nothing || !options.table.empty()) {
    throw BadInput("--rows", "asks for the best layout of each row, without --largest and --table");
  }
  const auto runs = runs_of_rows(*arguments.find("rows"), asked.words, sources.around);
  return answer_each(arguments, runs, sources.around,
                     [&](const NamedRun& run) { return line_of(run, asked, options, sources); });
}

/// The values of a term in a table when nobody says.
struct UsualValues {
  std::string_view term;
  std::string_view values;
};

constexpr UsualValues usual_values[] = {{"seq", "2k,4k,8k,16k,32k"},
                                        {"micro_batch", "1,2,4,8"},
                                        {"global_batch", "256,512,1024,2048"},
                                        {"gpus", "8,16,32,64,128,256"},
                                        {"gpu", "a100-80,h100-sxm,h200,b200"},
                                        {"method", "full,lora,qlora"},
                                        {"recompute", "none,selective,full"},
                                        {"tp", "1,2,4,8"},
                                        {"pp", "1,2,4,8"},
                                        {"dtype", "bf16,mixed-bf16"}};

std::vector<std::string> values_of(const std::vector<Given>& words, const std::string& term) {
  const auto* usual = quantity::find_or_null(usual_values, term, &UsualValues::term);
  const auto* said = read::find_word(words, term);
  const auto list = said != nullptr ? std::string_view(said->text) : usual != nullptr ? usual->values : "";
  if (list.empty()) throw BadInput("--table", "needs values of " + term, spec::option_of(term) + " with commas");
  const auto values = quantity::pieces_of(list, ",");
  return {values.begin(), values.end()};
}

Reply fill_table(const Planner& planner, const PlanOptions& options, const Sources& sources) {
  render::PlanTable table;
  table.row_term = options.table[0];
  table.column_term = options.table[1];
  table.rows = values_of(options.words, table.row_term);
  table.columns = values_of(options.words, table.column_term);
  table.objective = word_of(options.asked.objective);
  table.version = version();
  bool any = false;
  for (const auto& row : table.rows) {
    for (const auto& column : table.columns) {
      const auto words = with(with(options.words, table.row_term, row), table.column_term, column);
      const search::PlanSpace space = planner.space(planner.bases(words));
      const Searched searched = sources.around.search(space, options.search);
      if (searched.share < 1.0) throw BadInput("--table", "was interrupted");
      const auto& best = searched.findings.best;
      table.cells.push_back(best.empty() ? std::nullopt : std::optional(best.front()));
      any = any || !best.empty();
    }
  }
  return {.show = shown(std::move(table), options.style), .code = any ? ExitCode::fits : ExitCode::does_not_fit};
}

struct ObjectiveWord {
  std::string_view word;
  Objective objective;
};

constexpr ObjectiveWord objectives[] = {{"step-time", Objective::step_time}, {"cost", Objective::cost},
                                        {"energy", Objective::energy},       {"memory", Objective::memory},
                                        {"gpus", Objective::gpus},           {"micro-batch", Objective::micro_batch}};

std::string_view text_of(const Arguments& arguments, std::string_view flag, std::string_view fallback) {
  const std::string* text = arguments.find(flag);
  return text == nullptr ? fallback : std::string_view(*text);
}

std::vector<std::string> table_of(const Arguments& arguments) {
  const std::string* text = arguments.find("table");
  if (text == nullptr) return {};
  const auto comma = text->find(',');
  if (comma == std::string::npos)
    throw BadInput("--table", "expected two terms, found '" + *text + "'", "seq,micro-batch");
  std::vector<std::string> terms;
  for (const auto& name : {text->substr(0, comma), text->substr(comma + 1)}) {
    const read::Term* term = read::find_term(name);
    if (term == nullptr) {
      throw BadInput("--table", "there is no term '" + name + "'",
                     quantity::did_you_mean(name, read::all_term_names()));
    }
    terms.emplace_back(term->name);
  }
  if (terms[0] == terms[1]) throw BadInput("--table", "the two terms are the same");
  return terms;
}

std::size_t best_of(const Arguments& arguments) {
  constexpr std::int64_t most = 100'000;
  const std::string* text = arguments.find("top");
  if (text == nullptr) return PlanOptions().asked.best;
  const auto count = quantity::parse_count(*text, "--top");
  if (count >= 1 && count <= most) return static_cast<std::size_t>(count);
  throw BadInput("--top", "expected 1 to 100,000, found '" + *text + "'");
}

void take_largest(const Arguments& arguments, PlanOptions& options) {
  if (!arguments.has("largest")) return;
  const auto word = arguments.choice("largest");
  if (word == "seq") options.largest = Largest::seq;
  if (word == "params") options.largest = Largest::params;
  if (word == "micro-batch") options.asked.objective = Objective::micro_batch;
}

void check(const PlanOptions& options) {
  if (options.format == "html" && !options.table.empty()) {
    throw BadInput("--format html", "shows one plan, and --table asks for many", "--format csv");
  }
  if (options.format == "junit" || options.format == "markdown") {
    throw BadInput("--format", "of a line each is for --rows", "--format csv");
  }
  if (options.largest != Largest::nothing && !options.table.empty()) {
    throw BadInput("--table", "contradicts --largest: one asks for stated values, the other for none");
  }
}

/// \throws quantity::BadInput with the nearest word
Objective objective_of(std::string_view word) {
  if (const auto* found = quantity::find_or_null(objectives, word, &ObjectiveWord::word)) return found->objective;
  const auto words = quantity::mapped(objectives, &ObjectiveWord::word);
  throw BadInput("--objective", "there is no objective '" + std::string(word) + "'",
                 quantity::did_you_mean(word, words, "the objectives are " + quantity::joined(words, ", ")));
}

PlanOptions plan_options(const Arguments& arguments, const Surroundings& around) {
  PlanOptions options;
  arguments.names(1);
  options.words = words_of(arguments);
  options.presets = text_of(arguments, "presets", {});
  options.calibration = text_of(arguments, "calibration", {});
  options.asked.objective = objective_of(text_of(arguments, "objective", objectives[0].word));
  options.asked.limits = limits_of(arguments);
  options.asked.strict = arguments.has("strict");
  options.asked.best = best_of(arguments);
  take_largest(arguments, options);
  options.table = table_of(arguments);
  options.search.is_quiet = arguments.has("quiet");
  options.format = arguments.choice("format");
  options.style = {.colour = wants_colour(arguments, around),
                   .bars = around.terminal,
                   .full = arguments.has("full") || arguments.has("top")};
  if (!arguments.has("rows")) check(options);
  return options;
}

/// Choices of the search are said as it made them.
bool is_chosen(const Given& word) {
  return read::is_choice(word.term) || word.term == "zero" || word.term == "recompute_kept" ||
         (word.term != "framework" && quantity::contains(chosen_terms(), word.term));
}

}  // namespace

std::string_view word_of(Objective objective) {
  return std::ranges::find(objectives, objective, &ObjectiveWord::objective)->word;
}

std::string fit_command(const AskedWords& asked, const std::vector<Given>& varied, const spec::Question& question) {
  std::vector<Given> base;
  for (const Given& word : asked.words) {
    if (is_chosen(word)) continue;
    const auto* own = read::find_word(varied, word.term);
    base.push_back(own == nullptr ? word : *own);
  }
  const auto& source = asked.source;
  std::string command = "llmcalc fit";
  for (const Given& word : read::say(question, base, chosen_terms(), {source.config, source.catalogue})) {
    command += " " + spec::option_of(word.term) + " " + render::shell_word(word.text);
  }
  if (!source.presets.empty()) command += " --presets " + render::shell_word(source.presets);
  if (!source.calibration.empty()) command += " --calibration " + render::shell_word(source.calibration);
  return command;
}

Reply ask_plan(const Arguments& arguments, const Surroundings& around) {
  PlanOptions options = plan_options(arguments, around);
  const auto catalogue = around.calibrated(arguments);
  const Sources sources{around, catalogue};
  const AskedQuestion asked = asked_run(arguments, around, catalogue);
  if (arguments.has("show-question")) return show_question(asked, "plan");
  if (arguments.has("rows")) return plan_each(arguments, asked, options, sources);
  options.words = searched_words(asked);
  const Planner planner(options, sources, asked.config);
  Reply reply = options.table.empty() ? search_once(planner, options, sources) : fill_table(planner, options, sources);
  quantity::append(reply.notes, asked.notes());
  reply.warnings = asked.with_missing(std::move(reply.warnings));
  return reply;
}

}  // namespace llmcalc::api
