// The answers, described: what presets/answers says of each, and views of values that only an answer has.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/render/report.hpp"
#include "quantity/lists.hpp"
#include "render/answers.hpp"
#include "render/inner/fields.hpp"
#include "render/inner/text.hpp"
#include "render/understood.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace llmcalc::render {

inline constexpr std::array<std::string_view, 4> flop_conventions{"six_pd", "model", "hardware", "full_square"};
inline constexpr std::array<std::string_view, 5> verdict_ids{"fits", "tight", "does_not_fit", "no_accelerator",
                                                             "error"};
inline constexpr std::array<std::string_view, 3> server_verdicts{"fits", "does_not_fit", "no_accelerator"};
inline constexpr std::array<std::string_view, 2> holding_kinds{"computed", "measured-constant"};
inline constexpr std::array<std::string_view, 6> objectives{"step-time", "cost", "energy",
                                                            "memory",    "gpus", "micro-batch"};
inline constexpr std::array<std::string_view, 4> law_names{"chinchilla", "kaplan", "llama-3", "data-constrained"};

/// A number where it applies and is finite.
inline std::optional<double> number_where(bool applies, double value) {
  return where(applies && !std::isinf(value), value);
}

inline Text text_where(bool applies, std::string_view words) { return {applies ? words : std::string_view()}; }

/// A time that may not be known, or never end.
inline std::optional<double> ending(const std::optional<quantity::Seconds>& time) {
  return time ? unless_infinite(in_seconds(*time)) : std::nullopt;
}

template <class T>
std::vector<Signed<T>> signed_all(const std::vector<T>& values) {
  return quantity::mapped(values, [](T value) { return Signed<T>{value}; });
}

/// A part of a step beside the whole.
struct PartOfStep {
  const answer::StepPart* part;
  quantity::Seconds step;
};

inline std::vector<PartOfStep> parts_of(const answer::TimeAnswer& time) {
  return quantity::mapped(time.step_parts, [&](const answer::StepPart& part) { return PartOfStep{&part, time.step}; });
}

inline OneOf verdict_of(trust::VerdictKind kind) {
  return {verdict_ids[static_cast<std::size_t>(kind)], std::span(verdict_ids).first(4)};
}

inline Word<memory::Phase> phase_of(memory::Phase phase) { return {phase, memory::Phase::checkpoint, memory::name_of}; }

inline Keyed<quantity::Bytes> held_by_kind(const answer::HeldBytes& held) {
  return {memory::id_of(held.holding), held.size};
}

/// A term of the effective question.
struct Echo {
  std::string_view value;
  std::string_view origin;
  std::string_view where;
};

/// A member a term; of one that is said twice the last.
inline std::vector<Keyed<Echo>> echoes(const std::vector<spec::Word>& lines) {
  std::vector<Keyed<Echo>> terms;
  for (const auto& line : lines) {
    auto said = std::ranges::find(terms, line.term, &Keyed<Echo>::key);
    if (said == terms.end()) said = terms.insert(said, {line.term, {}});
    said->value = {line.text, line.text.empty() ? "" : word_of(line.origin.source), line.origin.where};
  }
  return terms;
}

/// A question that could not be answered.
struct ErrorAnswer {
  std::string place;
  std::string problem;
  std::string hint;
  std::string_view version;
};

/// A row with the names of its terms.
struct PlannedRow {
  const PlanReport* report;
  const PlanRow* row;
};

inline std::vector<PlannedRow> planned_rows(const PlanReport& report, const std::vector<PlanRow>& rows) {
  return quantity::mapped(rows, [&](const PlanRow& row) { return PlannedRow{&report, &row}; });
}

inline std::vector<Keyed<std::string_view>> terms_of(const PlannedRow& planned) {
  const auto& terms = or_empty(planned.report).terms;
  const auto& values = or_empty(planned.row).values;
  std::vector<Keyed<std::string_view>> run;
  for (std::size_t i = 0; i < std::min(terms.size(), values.size()); ++i) run.push_back({terms[i], values[i]});
  return run;
}

/// A cell of a table of plans.
struct PlanCell {
  std::string_view row;
  std::string_view column;
  std::optional<search::PlannedRun> best;
};

inline std::vector<PlanCell> cells_of(const PlanTable& table) {
  std::vector<PlanCell> cells;
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    const std::size_t width = table.columns.size();
    cells.push_back({table.rows[i / width], table.columns[i % width], table.cells[i]});
  }
  return cells;
}

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

constexpr std::string_view id_of(laws::ScaleSection section) { return words_of(section).id; }

inline std::optional<double> value_of(const laws::ScaleAnswer& answer, std::string_view id) {
  const auto* line = laws::find_line(answer, id);
  return line == nullptr ? std::nullopt : std::optional(line->value);
}

inline Word<trust::Judgement> word_of(trust::Judgement judgement) {
  return {judgement, trust::Judgement::false_miss, trust::id_of};
}

/// How often each judgement was passed.
struct Verdicts {
  std::span<const trust::JudgedRun> runs;
};

struct NamedPeak {
  std::string_view name;
  std::optional<quantity::FlopRate> spec::Accelerator::Peaks::*rate;
};

inline constexpr NamedPeak named_peaks[] = {
    {"fp64", &spec::Accelerator::Peaks::fp64}, {"fp64_matrix", &spec::Accelerator::Peaks::fp64_matrix},
    {"fp32", &spec::Accelerator::Peaks::fp32}, {"fp32_matrix", &spec::Accelerator::Peaks::fp32_matrix},
    {"tf32", &spec::Accelerator::Peaks::tf32}, {"fp16", &spec::Accelerator::Peaks::fp16},
    {"bf16", &spec::Accelerator::Peaks::bf16}, {"fp8", &spec::Accelerator::Peaks::fp8},
    {"int8", &spec::Accelerator::Peaks::int8}, {"fp4", &spec::Accelerator::Peaks::fp4},
};

void describe(auto& field, const spec::Accelerator::Peaks& peaks) {
  field.is("peaks", "Dense peaks; null where the part lacks the type.");
  for (const auto& peak : named_peaks) field(peak.name, peaks.*peak.rate, "FLOP a second");
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

#include "answers/fit.inc"
#include "answers/presets.inc"
#include "answers/runs.inc"
#include "answers/serve.inc"

}  // namespace llmcalc::render
