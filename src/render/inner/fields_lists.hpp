// What answers for many runs at once, and what is no answer, described.
#pragma once

#include "render/answers.hpp"
#include "render/inner/fields_fit.hpp"
#include "render/understood.hpp"
#include "spec/names.hpp"

namespace llmcalc::render {

constexpr std::string_view word_of(laws::Standing origin) {
  switch (origin) {
    case laws::Standing::given: return "given";
    case laws::Standing::derived: return "derived";
    case laws::Standing::assumed: return "assumed";
  }
  return {};
}

struct SectionWords {
  std::string_view id;       ///< for programs
  std::string_view heading;  ///< for people; the run itself has none
};

constexpr SectionWords words_of(laws::ScaleSection section) {
  switch (section) {
    case laws::ScaleSection::run: return {"run", ""};
    case laws::ScaleSection::optimum: return {"optimum", "the best for this compute"};
    case laws::ScaleSection::smaller: return {"smaller", "a smaller model with the same loss"};
    case laws::ScaleSection::serving: return {"serving", "the best to train and serve, with the same loss"};
    case laws::ScaleSection::serving_budget:
      return {"serving_budget", "the best to train and serve, within the same budget"};
    case laws::ScaleSection::batch: return {"batch", "batch size and learning rate"};
  }
  return {};
}

void describe(auto& field, const RunLine& line) {
  const auto& verdict = line.verdict;
  const bool judged = verdict && verdict->kind != trust::VerdictKind::no_accelerator;
  const auto bytes = [&](bool known, quantity::Bytes answer::Verdict::*figure) {
    return known ? std::optional((*verdict).*figure) : std::nullopt;
  };
  const auto ends = [](const std::optional<quantity::Seconds>& time) {
    return time ? unless_infinite(in_seconds(*time)) : std::nullopt;
  };
  field.is("run_line", "A question of many.");
  field("name", line.name, "what tells it from the others: an accelerator, a row's id");
  field("verdict", OneOf{verdict ? verdict_of(verdict->kind).value : verdict_ids.back(), verdict_ids},
        "`error` where there is no answer");
  field("needed_bytes", bytes(verdict.has_value(), &answer::Verdict::needed), "as in `fit`");
  field("high_bytes", bytes(verdict.has_value(), &answer::Verdict::high), "the high end of the error bar");
  field("capacity_bytes", bytes(judged, &answer::Verdict::capacity), "of one accelerator");
  field("step_seconds", ends(line.step), "one optimizer step");
  field("error", Text{line.error}, "why there is no answer");
  field("total_seconds", ends(line.total), "wall time of the whole run; null also where it never finishes");
  field("cost_usd", line.cost, "of the whole run; null where no price is known");
  field("first_token_seconds", ends(line.first_token),
        "of a server under its load; null for training, as the next three, and where requests come too fast");
  field("token_seconds", ends(line.token), "each later token");
  field("token_cost_usd", line.token_cost, "of a million tokens of output with their prompts");
  field("at_once", line.at_once, "requests of the context for which there is memory");
  field("layout", Text{line.layout}, "of `plan`, the best in a few words");
  field("reasons", line.reasons, "limits that it does not keep");
  field("advice", Text{line.advice}, "the first change with which it fits, as options");
}

void describe(auto& field, const Runs& runs) {
  field.answer("runs", runs.version, "`--gpu a100,h100`, `--rows runs.csv` and `--sweep seq` ([ci.md](ci.md)).");
  field("runs", runs.lines, "one for each question");
}

/// A question that could not be answered.
struct ErrorAnswer {
  std::string place;
  std::string problem;
  std::string hint;
  std::string_view version;
};

void describe(auto& field, const ErrorAnswer& error) {
  field.answer("error", error.version, "A question that could not be answered.");
  field("place", error.place, "where the mistake is: an option, a file and line");
  field("problem", error.problem, "what was found, and what was expected");
  field("hint", Text{error.hint}, "the nearest valid name, or what to do");
}

void describe(auto& field, const Understood& question) {
  field.answer("from", question.version, "`llmcalc from`: a question that was read from files and commands.");
  field("read", question.kind, "what the things were recognized as");
  field("command", command_of(question), "the question as a command to type");
  field("question", echoes(question.words), "its terms");
  field("assumptions", sentences(question.assumptions), "what nobody said");
  field("not_read", question.unread, "keys that nobody knows, with their places");
}

void describe(auto& field, const search::PlannedRun& run) {
  field.is("planned_figures", "What a layout takes.");
  field("needed_bytes", run.memory, "of one accelerator");
  field("step_seconds", run.step, "one optimizer step");
  field("total_seconds", run.total, "wall time of the whole run");
  field("cost_usd", run.cost, "null where no price is known");
  field("energy_kwh", run.energy, "null where the power is not known");
}

/// A row with the names of its terms.
struct PlannedRow {
  const PlanReport* report;
  const PlanRow* row;
};

void describe(auto& field, const PlannedRow& planned) {
  const auto& terms = or_empty(planned.report).terms;
  const auto& row = or_empty(planned.row);
  std::vector<Keyed<std::string_view>> run;
  for (std::size_t i = 0; i < std::min(terms.size(), row.values.size()); ++i) run.push_back({terms[i], row.values[i]});
  field.is("planned_run", "A layout.");
  field("figures", row.run, "what it takes");
  field("run", run, "its terms, as they could be typed");
}

inline std::vector<PlannedRow> planned_rows(const PlanReport& report, const std::vector<PlanRow>& rows) {
  return quantity::mapped(rows, [&](const PlanRow& row) { return PlannedRow{&report, &row}; });
}

void describe(auto& field, const dialects::Launch& launch) {
  field.is("launch", "How a framework starts the best run.");
  field("framework", launch.framework, "its name");
  field("command", launch.command, "what to type, after the files it needs; empty where it would start another run");
  field("beyond", launch.beyond, "options of the run that its files and options do not say");
}

inline constexpr std::array<std::string_view, 6> objectives{"step-time", "cost", "energy",
                                                            "memory",    "gpus", "micro-batch"};

void describe(auto& field, const PlanReport& report) {
  const auto& estimate = report.estimate;
  field.answer("plan", report.version, "The best layouts of a run.");
  field("objective", OneOf{report.objective, objectives}, "what the best is best at");
  field("layouts", report.looked_at, "that were looked at");
  field("layouts_that_fit", report.fitting, "of those that had to be priced, within all limits");
  field("capacity_bytes", estimate ? std::optional(estimate->verdict.capacity) : std::nullopt,
        "of one accelerator of the best run; null when nothing fits");
  field("mfu", estimate ? std::optional(estimate->compute.mfu) : std::nullopt, "of the best run");
  field("largest_term", Text{report.largest_term}, "what --largest made as large as fits");
  field("largest_value", Text{report.largest_value}, "how large");
  field("best", planned_rows(report, report.best), "in order, --top of them");
  field("each", planned_rows(report, report.each),
        "the best of each run that is compared (`--gpu h100-sxm,h200`); empty where there is one");
  field("front", planned_rows(report, report.front),
        "those that no other run beats in memory, time and cost, fastest first");
  field("sure", report.sure ? std::optional(PlannedRow{&report, &*report.sure}) : std::nullopt,
        "where the best fits within its error bar only: the best that surely does, under --strict");
  field("nearest", report.nearest ? std::optional(PlannedRow{&report, &*report.nearest}) : std::nullopt,
        "where no layout keeps --max-days or --max-cost: the best without these");
  field("fit_command", Text{report.fit_command}, "what answers with the best run in full; null when nothing fits");
  field("launch", report.launch, "of the framework that was asked for; without one, of several");
  field("assumptions", sentences(report.assumptions), "what nobody said and the answer depends on");
  field("warnings", report.warnings, "what the caller should look at");
}

/// A cell of a table of plans.
struct PlanCell {
  std::string_view row;
  std::string_view column;
  std::optional<search::PlannedRun> best;
};

void describe(auto& field, const PlanCell& cell) {
  field.is("plan_cell", "A pair of values.");
  field("row", cell.row, "value of row_term");
  field("column", cell.column, "value of column_term");
  field("best", cell.best, "null where nothing fits");
}

void describe(auto& field, const PlanTable& table) {
  std::vector<PlanCell> cells;
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    const std::size_t width = table.columns.size();
    cells.push_back({table.rows[i / width], table.columns[i % width], table.cells[i]});
  }
  field.answer("plan_table", table.version, "`plan --table`: the best layout for each pair of values.");
  field("objective", OneOf{table.objective, objectives}, "what the best is best at");
  field("row_term", table.row_term, "that differs from row to row");
  field("column_term", table.column_term, "that differs from column to column");
  field("cells", cells, "row by row");
  field("warnings", table.warnings, "what the caller should look at");
}

void describe(auto& field, const laws::ScaleLine& line) {
  field.is("scale_line", "A figure, stated or followed from others.");
  field("id", line.id, "the unit is in the name");
  field("label", line.label, "in words");
  field("value", line.value, "in the unit of the id");
  field("text", line.text, "for people");
  field("origin",
        Word<laws::Standing>{line.origin, laws::Standing::assumed,
                             [](laws::Standing standing) { return word_of(standing); }},
        "where it comes from");
  describe_why(field, line.why);
  field("section",
        Word<laws::ScaleSection>{line.section, laws::ScaleSection::batch,
                                 [](laws::ScaleSection section) { return words_of(section).id; }},
        "`run`, or the follow-up that the line answers");
}

void describe(auto& field, const laws::FrontierPoint& point) {
  field.is("frontier_point", "A model beside the best: another size of its compute, or the best of another compute.");
  field("parameters", point.split.params, "of the model");
  field("tokens", point.split.tokens, "that it sees");
  field("tokens_per_parameter", point.split.tokens / point.split.params, "of the run");
  field("compute_flops", point.split.compute(), "C = 6PD");
  field("loss", point.loss, "nats a token");
  field("best", point.best, "the optimum of the run's compute");
  field(
      "same_loss_compute_ratio", point.same_loss_compute,
      "compute with which this size reaches the loss of the best, over that of the best; null where it never does, and "
      "under `--frontier budgets`");
}

inline constexpr std::array<std::string_view, 4> law_names{"chinchilla", "kaplan", "llama-3", "data-constrained"};

void describe(auto& field, const Versioned<laws::ScaleAnswer>& report) {
  const auto& answer = or_empty(report.value);
  const auto value = [&](std::string_view id) {
    const auto* line = laws::find_line(answer, id);
    return line == nullptr ? std::nullopt : std::optional(line->value);
  };
  field.answer("scale", report.version, "[scale.md](scale.md) says what the laws and the sections are.");
  field("parameters", value("params"), "a number, not an integer: the model may not exist yet");
  field("tokens", value("tokens"), "that it sees");
  field("tokens_per_parameter", value("tokens_per_parameter"), "of the run");
  field("compute_flops", value("compute_flops"), "C = 6PD");
  field("pflop_days", value("compute_pflop_days"), "the same");
  field("gpu_hours", value("gpu_hours"), "null where nothing was said about accelerators");
  field("total_seconds", value("time_s"), "null where nothing was said about accelerators");
  field("lines", answer.lines, "everything that follows");
  field("assumptions", quantity::mapped(answer.assumptions, laws::in_full),
        "what nobody said and the answer depends on");
  field("law", OneOf{facts(answer.law).name, law_names}, "by which the answer goes");
  field("loss", value("loss"), "predicted by the law, in nats a token; null where it predicts none");
  field("cost_usd", value("cost_usd"), "of the run; null where no price is known");
  field("frontier", answer.frontier ? answer.frontier->points : std::vector<laws::FrontierPoint>(),
        "with --frontier, and the three nearest sizes where a budget was stated, in ascending order; otherwise empty");
  field("warnings", answer.warnings, "where a law is stretched beyond the runs it was fitted on");
}

void describe_errors(auto& field, const trust::Summary& summary) {
  const auto if_any = [&](double value) { return where(summary.n > 0, value); };
  field("n", summary.n, "rows");
  field("mean_abs_pct", if_any(summary.mean_abs_pct), "mean of the absolute errors");
  field("median_abs_pct", if_any(summary.median_abs_pct), "their median");
  field("p95_abs_pct", if_any(summary.p95_abs_pct), "by nearest rank");
  field("max_abs_pct", if_any(summary.max_abs_pct), "the largest");
  field("bias_pct", where(summary.n > 0, Signed<double>{summary.bias_pct}), "mean of the signed errors");
  field("inside_bar_pct", if_any(summary.inside_bar_pct), "rows within their error bar");
}

void describe(auto& field, const trust::Summary& summary) {
  field.is("error_summary", "Percent errors of predictions; null where no row was compared.");
  describe_errors(field, summary);
}

void describe(auto& field, const trust::RowGroup& group) {
  field.is("error_group", "The rows that hold this value in that column.");
  field("by", group.by, "the column");
  field("value", group.value, "in it");
  describe_errors(field, group.summary);
}

void describe(auto& field, const trust::Comparison& row) {
  const Measured measured{row.measured, spec::is_memory(row.measure)};
  const Measured predicted{row.predicted, measured.whole};
  field.is("compared_row", "A measurement and what is predicted for it.");
  field("id", row.id, "of the row");
  field("place", row.place, "file and line");
  field("quantity", row.measure, "what was measured");
  field("measured", measured, "bytes, as integers; seconds; or tokens a second and accelerator");
  field("predicted", predicted, "as measured");
  field("error_pct", Signed<double>{row.error_pct()}, "of the measured value");
  field("bar_below", row.bar.below, "how far the error bar reaches below what is predicted, as a share of it");
  field("bar_above", row.bar.above, "and above");
  field("inside_bar", row.inside_bar(), "within the error bar");
}

inline Word<trust::Judgement> word_of(trust::Judgement judgement) {
  return {judgement, trust::Judgement::false_miss, trust::id_of};
}

void describe(auto& field, const trust::JudgedRun& run) {
  field.is("judged_row", "A row of which is only known whether the run fitted.");
  field("id", run.id, "of the row");
  field("place", run.place, "file and line");
  field("judgement", word_of(run.judgement), "`false_fit`: said to fit, but ran out of memory");
}

void describe(auto& field, const trust::Skipped& skipped) {
  field.is("skipped_rows", "Rows that could not be compared.");
  field("reason", skipped.reason, "why");
  field("count", skipped.count, "how many");
  field("first_place", skipped.first_place, "file and line of the first");
}

/// How often each judgement was passed.
struct Verdicts {
  std::span<const trust::JudgedRun> runs;
};

void describe(auto& field, const Verdicts& verdicts) {
  using enum trust::Judgement;
  const auto count = [&](trust::Judgement judgement) { return trust::count(verdicts.runs, judgement); };
  field.is("verdicts", "Of `fits` and `oom` rows.");
  field(trust::id_of(true_fit), count(true_fit), "said to fit, and did");
  field(trust::id_of(false_fit), count(false_fit), "said to fit, but ran out of memory");
  field(trust::id_of(true_miss), count(true_miss), "said not to fit, and did not");
  field(trust::id_of(false_miss), count(false_miss), "said not to fit, but ran");
}

void describe(auto& field, const Versioned<trust::Validation>& report) {
  const auto& validation = or_empty(report.value);
  field.answer("validate", report.version, "[validate.md](validate.md) says what the figures mean.");
  field("summary", validation.summary, "over all compared rows");
  field("configurations", validation.configurations,
        "the same with each `config-group` as one row, the median of its ratios");
  field("groups", validation.groups, "the same for each value of each --by column");
  field("verdicts", Verdicts{validation.judged}, "of `fits` and `oom` rows");
  field("rows", validation.rows, "in the order of the files");
  field("judged", validation.judged, "`fits` and `oom` rows");
  field("skipped", validation.skipped, "rows that could not be compared, the most frequent reason first");
}

void describe(auto& field, const spec::Bias& bias) {
  field.is("bias", "How far own runs are from what is predicted.");
  field("runs", bias.runs, "that were compared");
  field("factor", bias.factor, "measured over predicted");
  field("bar", bias.bar, "share of it");
}

void describe(auto& field, const trust::OwnBias& own) {
  const auto& [memory, time] = own.calibration;
  field.is("own_bias", "What is known of runs under a framework.");
  field("framework", own.framework, "of the runs");
  if (memory.is_known()) field("memory", memory, "of what they need");
  if (time.is_known()) field("time", time, "of their steps");
}

/// The file that --calibration reads, where a member stands for what is known alone.
void describe(auto& field, const Versioned<std::vector<trust::OwnBias>>& file) {
  field("llmcalc_version", file.version, "that wrote it");
  field("calibration", or_empty(file.value), "of each framework");
}

}  // namespace llmcalc::render
