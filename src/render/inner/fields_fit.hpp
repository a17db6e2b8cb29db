// `fit` and what other answers share with it, described.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/render/report.hpp"
#include "quantity/lists.hpp"
#include "render/inner/fields.hpp"
#include "render/inner/text.hpp"

#include <array>
#include <vector>

namespace llmcalc::render {

// Tokens, FLOP, time, cost and energy of a run, described.

void describe_why(auto& field, const answer::Explanation& why) {
  field("formula", Text{why.formula}, "how it is calculated");
  field("numbers", Text{why.numbers}, "the formula with its numbers");
  field("source", Text{why.source}, "paper and equation, file of a framework, or measurement");
}

void describe(auto& field, const answer::Explanation& why) {
  field.is("explanation", "Where a figure comes from.");
  describe_why(field, why);
}

void describe(auto& field, const answer::FlopFigure& figure) {
  static constexpr std::array<std::string_view, 4> conventions{"six_pd", "model", "hardware", "full_square"};
  field.is("flop_figure", "One FLOP count under a named convention.");
  field("id", OneOf{figure.id, conventions},
        "`model` counts attention below the mask, `hardware` with recomputation, `full_square` attention as a square");
  field("label", figure.label, "in words");
  field("per_token", figure.per_token, "FLOP");
  field("total", figure.total, "FLOP of the whole run");
  field("utilization", where(figure.utilization > 0, figure.utilization),
        "share of the accelerators' peak at the predicted speed: MFU, or HFU of `hardware`; null of `six_pd` where not "
        "every parameter is trained");
  describe_why(field, figure.why);
}

/// Tokens and FLOP.
void describe_compute(auto& field, const answer::TimeAnswer& answer) {
  field("tokens", answer.tokens, "that the run sees");
  field("tokens_source", Text{answer.tokens_source}, "who said so");
  field("flops", answer.flops, "under four conventions");
  field("pflop_days", answer.pflop_days, "of the `six_pd` figure; 1 PFLOP-day = 8.64e19 FLOP");
}

/// A part of a step beside the whole.
struct PartOfStep {
  const answer::StepPart* part;
  quantity::Seconds step;
};

void describe(auto& field, const PartOfStep& of) {
  const answer::StepPart& part = or_empty(of.part);
  field.is("step_part", "One kind of work or waiting in a step.");
  field("id", part.id, "for programs");
  field("label", part.label, "in words");
  field("seconds", part.time, "of a step");
  field("share", part.time / of.step, "of the step");
  describe_why(field, part.why);
}

/// How much of the wall time makes progress that lasts; every key is null where nothing is trained.
void describe_goodput(auto& field, const std::optional<answer::Goodput>& given) {
  const answer::Goodput goodput = given.value_or(answer::Goodput());
  const auto number = [&](double value) { return given ? unless_infinite(value) : std::nullopt; };
  field("share", number(goodput.share), "useful over wall time; 0: the run never finishes");
  field("mtbf_seconds", number(in_seconds(goodput.mtbf)),
        "between failures of the whole run; null where nothing fails");
  field("failures", number(goodput.failures), "expected until the run is done");
  field("checkpoint_bytes", where(given.has_value(), goodput.checkpoint), "of one");
  field("checkpoint_seconds", number(in_seconds(goodput.save)), "to save one");
  field("checkpoint_interval_seconds", number(in_seconds(goodput.interval)), "training between two");
  field("restart_seconds", number(in_seconds(goodput.restart)), "after a failure");
  describe_why(field, goodput.why);
}

/// Energy that the run draws from the grid; every key is null where the accelerator's power is not known.
void describe_energy(auto& field, const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint());
  const bool known = given.has_value();
  field("kilowatt_hours", where(known, footprint.energy), "building included");
  field("power_watts", where(known, footprint.power), "mean of one accelerator with its share of the server");
  field("pue", where(known, footprint.pue), "of the building");
  describe_why(field, footprint.why_energy);
}

/// Carbon that producing that energy emits; every key is null where the energy is not known.
void describe_carbon(auto& field, const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint());
  const bool known = given.has_value();
  field("kilograms_co2e", where(known, footprint.carbon), "of the run");
  field("grams_per_kilowatt_hour", where(known, footprint.intensity), "of the grid");
  describe_why(field, footprint.why_carbon);
}

void describe_speed(auto& field, const answer::TimeAnswer& answer, bool timed) {
  const auto number = [&](double value) { return timed ? unless_infinite(value) : std::nullopt; };
  const auto text = [&](std::string_view words) { return Text{timed ? words : std::string_view()}; };
  field("mfu", number(answer.mfu), "model FLOPs utilization as a share");
  field("mfu_source", text(answer.mfu_source), "where it comes from");
  field("peak_flops_per_second", number(in_flops_per_second(answer.peak)),
        "of one accelerator in the compute type, dense");
  field("step_seconds", number(in_seconds(answer.step)), "one optimizer step");
  field("tokens_per_second_per_gpu", number(answer.tokens_per_gpu),
        "tokens of a step over its time and the accelerators");
  field("step_error_bar", number(answer.error.below),
        "how far the error bar reaches below step_seconds, as a share of it; 0 where --mfu was given");
  field("step_error_bar_above", number(answer.error.above), "and above: further where a slow host would pace the step");
  field("step_error_bar_source", text(answer.error_source), "the measured runs it comes from");
  field("step_parts",
        quantity::mapped(answer.step_parts,
                         [&](const answer::StepPart& part) {
                           return PartOfStep{&part, answer.step};
                         }),
        "where the step goes, longest first; empty where --mfu was given or there is no accelerator");
}

/// Time, cost and energy: every key is null without an accelerator.
void describe_time(auto& field, const answer::Estimate& estimate) {
  const auto& answer = estimate.compute;
  const auto number = [&](double value) { return estimate.timed ? unless_infinite(value) : std::nullopt; };
  const auto dollars = [&](const std::optional<quantity::Money>& money) {
    return estimate.timed ? money : std::nullopt;
  };
  describe_speed(field, answer, estimate.timed);
  field("useful_seconds", number(in_seconds(answer.useful)), "all steps of the run, as if nothing failed");
  field.object("goodput", "useful over wall time, and what it follows from",
               [&] { describe_goodput(field, answer.goodput); });
  field("total_seconds", number(in_seconds(answer.total)),
        "wall time of the whole run; null also when failures come faster than it can restart");
  field("gpu_hours", number(answer.gpu_hours), "of all accelerators together, in wall time");
  field("cost_usd", dollars(answer.cost), "null also when no price is known");
  field("price_usd_per_gpu_hour", dollars(answer.price), "null also when it is not known");
  field("price_source", Text{estimate.timed ? std::string_view(answer.price_source) : std::string_view()},
        "who said so");
  field.object("energy", "drawn from the grid", [&] { describe_energy(field, answer.footprint); });
  field.object("carbon", "emitted for it", [&] { describe_carbon(field, answer.footprint); });
}

inline constexpr std::array<std::string_view, 5> verdict_ids{"fits", "tight", "does_not_fit", "no_accelerator",
                                                             "error"};

inline OneOf verdict_of(trust::VerdictKind kind) {
  return {verdict_ids[static_cast<std::size_t>(kind)], std::span(verdict_ids).first(4)};
}

inline Word<memory::Phase> phase_of(memory::Phase phase) { return {phase, memory::Phase::checkpoint, memory::name_of}; }

/// A term of the effective question.
struct Echo {
  std::string_view value;
  std::string_view origin;
  std::string_view where;
};

void describe(auto& field, const Echo& echo) {
  field.is("echo", "One effective value and where it came from; null where the term does not apply.");
  field("value", Text{echo.value}, "the word as it could be typed again");
  field("origin", OneOf{echo.origin, spec::source_words, true}, "who said it");
  field("where", Text{echo.where}, "the flag, the file with its JSON pointer, or the name of the default");
}

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

void describe(auto& field, const search::CardVerdict& card) {
  field.is("card", "What another accelerator makes of the run as it was asked.");
  field("gpu", card.gpu, "its id");
  field("verdict", OneOf{verdict_ids[static_cast<std::size_t>(card.verdict)], std::span(verdict_ids).first(3)},
        "as of the answer");
}

/// How far from needed_bytes runs were measured, as shares of it, and where that was measured.
void describe_error_bar(auto& field, const answer::Verdict& verdict) {
  field("share", verdict.error.above, "from needed_bytes up to high_bytes");
  field("share_below", verdict.error.below, "from needed_bytes down to low_bytes");
  field("source", Text{verdict.error_source}, "the class of runs on which it was measured");
  field("low_bytes", verdict.low, "the low end");
  field("likely_bytes", verdict.needed, "needed_bytes");
  field("high_bytes", verdict.high, "the high end: a run fits when this does");
  field("reserved_share", verdict.reserved.above, "the same for what the allocator holds (max_memory_reserved)");
  field("reserved_share_below", verdict.reserved.below, "the same downwards");
  field("shown_share", verdict.shown.above,
        "the same for what nvidia-smi shows, which counts blocks that the allocator only caches");
  field("shown_share_below", verdict.shown.below, "the same downwards");
}

void describe(auto& field, const answer::SizeAnswer& size) {
  field.is("model_size", "Counts of parameters.");
  field("parameters_total", size.total, "all of them");
  field("parameters_active", size.active, "those that one token passes through");
  field("parameters_trainable", size.trainable, "those that are trained");
  field("parameters_embedding", size.embedding, "of token, position and type tables and of a head of its own");
}

void describe(auto& field, const answer::LedgerLine& line) {
  field.is("ledger_line", "What is held, and why so much.");
  field("id", Word<memory::Holding>{line.holding, memory::Holding::calibration, memory::id_of},
        "what the memory is held for; several lines may share one. `calibration` is what runs of your own move the "
        "need by");
  field("label", line.label, "in words");
  field("bytes", Signed<quantity::Bytes>{line.size}, "below 0 where a calibration lowers the need");
  field("empirical", line.empirical, "a measured constant of the runtime");
  describe_why(field, line.why);
}

void describe(auto& field, const answer::PhasePeak& peak) {
  field.is("phase_peak", "The highest live bytes of a phase of a steady step.");
  field("phase", phase_of(peak.phase), "of a step");
  field("allocated_bytes", peak.allocated, "at its highest");
}

inline Keyed<quantity::Bytes> held_by_kind(const answer::HeldBytes& held) {
  return {memory::id_of(held.holding), held.size};
}

void describe(auto& field, const answer::TimelinePoint& point) {
  field.is("timeline_point", "The highest moment of one block on its way through a steady step.");
  field("phase", phase_of(point.phase), "of a step");
  field("place", point.place, "the block");
  field("allocated_bytes", point.allocated, "at its highest");
  field("held_bytes", quantity::mapped(point.held, held_by_kind),
        "what they are held for, as far as anything is, by the ids of `ledger`; the sum is allocated_bytes");
  field(
      "seconds", point.time,
      "what the block's operations take there in one micro-batch, the update in a step, without what a step waits for "
      "beside them; null without an accelerator, under --mfu, and where a model beside the trained one passes");
}

void describe(auto& field, const memory::StagePeak& peak) {
  field.is("stage_peak", "A pipeline stage.");
  field("stage", peak.stage, "counted from 0");
  field("peak_allocated_bytes", peak.allocated, "at its highest");
}

void describe_levels(auto& field, const answer::MemoryAnswer& memory) {
  field("persistent_bytes", memory.persistent, "allocated between steps");
  field("peak_allocated_bytes", memory.peak_allocated,
        "allocated at the peak of a steady step (torch.cuda.max_memory_allocated)");
  field("peak_reserved_bytes", memory.peak_reserved,
        "held by the caching allocator (torch.cuda.max_memory_reserved), with blocks that it only caches as long as "
        "there "
        "is room for them");
  field("peak_device_bytes", memory.peak_device,
        "what the driver shows (nvidia-smi): reserved plus NCCL's buffers and the context");
  field("peak_needed_bytes", memory.peak_needed,
        "what must fit, by which the verdict goes: the same without blocks that the allocator gives back before it "
        "fails");
  field("peak_first_step_bytes", memory.peak_first_step,
        "allocated at the peak of the first step, before optimizer states exist");
}

/// Bytes that a rank holds, at the peak and through a step.
void describe_memory(auto& field, const Report& report) {
  const auto& memory = report.estimate.memory;
  const auto& verdict = report.estimate.verdict;
  const bool has_machine = verdict.host_capacity > quantity::Bytes{};
  field("ledger", memory.ledger, "what is alive at the peak; the bytes sum to peak_needed_bytes");
  field("phases", memory.phases, "of a steady step");
  field("peak_phase", phase_of(memory.peak_phase),
        "`evaluation` where --eval-batch is said, `checkpoint` where --save-checkpoint is");
  field("peak_place", Text{memory.peak_place}, "the same in words, down to the layer");
  field("peak_why", memory.peak_why, "what is alive there");
  field("timeline", memory.timeline,
        "every block in the order of time; empty where `activations` is no `program`. Its maximum is "
        "peak_allocated_bytes unless an evaluation takes more");
  describe_levels(field, memory);
  field("stage", memory.stage,
        "the pipeline stage that all of this is about: the one that peaks highest, or that of --rank");
  field("stages", memory.stages, "all of them");
  field("host_bytes", memory.host, "what this rank needs of its host for what is offloaded");
  field("host_ledger", memory.host_ledger,
        "what this rank has in the memory of its machine, with what a checkpoint takes there while it is written");
  field("host_needed_bytes", verdict.host_needed,
        "what the ranks of one machine need of its memory together, paged states included; the verdict goes by it too");
  field("host_capacity_bytes", where(has_machine, verdict.host_capacity), "of one machine");
  field("nvme_bytes", memory.nvme, "what this rank needs of its machine's drives for what is offloaded");
  field("paged_bytes", memory.paged,
        "optimizer states in managed memory, which the driver may move to the host: not in the need");
}

void describe(auto& field, const search::Advice& advice) {
  field.is("advice", "What makes the run fit, up to four changes together, verified by an estimate.");
  field("flag", options_of(advice), "what to type");
  field("change", advice.change, "in words");
  field("cost", advice.cost, "what it costs, in words");
  field("needed_bytes", advice.needed, "with it");
  field("verdict", OneOf{verdict_ids[static_cast<std::size_t>(advice.verdict)], std::span(verdict_ids).first(2)},
        "with it");
  field("speed_ratio", advice.speed, "tokens a second of the whole run over those before; null without an accelerator");
}

void describe(auto& field, const TrainerNeed& need) {
  field.is("trainer_need", "What a trainer needs for a size alone, which the textbook answers.");
  field("framework", need.framework, "the trainer");
  field("needed_bytes", need.needed, "as it runs it");
}

/// The largest with which the run still fits, one changed at a time; null when it does not fit.
void describe_room(auto& field, const std::optional<search::Headroom>& headroom) {
  field("largest_micro_batch", headroom ? std::optional(headroom->micro_batch) : std::nullopt,
        "of those that a stated global batch can be split into");
  field("longest_seq", headroom ? std::optional(headroom->seq) : std::nullopt, "tokens of a sequence");
}

void describe(auto& field, const Report& report) {
  const auto& estimate = report.estimate;
  const auto& verdict = estimate.verdict;
  const bool has_capacity = verdict.kind != trust::VerdictKind::no_accelerator;
  field.answer("fit", report.version, "Whether a run fits, how long it takes and what it costs.");
  field("verdict", verdict_of(verdict.kind), "`tight` fits, but inside the error bar");
  field("capacity_bytes", where(has_capacity, verdict.capacity), "of one accelerator; null without one");
  field("needed_bytes", verdict.needed, "at the peak, on the accelerator: memory.peak_needed_bytes");
  field("headroom_bytes", where(has_capacity, Signed<quantity::Bytes>{verdict.capacity - verdict.needed}),
        "capacity less need, negative when it does not fit");
  field.object("error_bar", "how far from the need runs were measured", [&] { describe_error_bar(field, verdict); });
  field("broken_limits", report.broken_limits,
        "limits that the caller set and the run does not keep (exit 1); empty when it does");
  field("question", echoes(report.question), "the effective question, every term of the vocabulary and its shorthands");
  field("model", estimate.size, "its parameters");
  field.object("memory", "what a rank holds", [&] { describe_memory(field, report); });
  field.object("compute", "tokens and FLOP", [&] { describe_compute(field, estimate.compute); });
  field.object("time", "null without an accelerator, every key; [time.md](time.md) says how it comes about",
               [&] { describe_time(field, estimate); });
  field("advice", report.advised.changes, "in ascending order of what they cost; empty when the run fits");
  field("cards", report.advised.cards, "larger accelerators of the same make; empty when the run fits");
  field("trainers", report.trainers, "of a size alone, otherwise empty");
  field.object("room", "how much more would fit", [&] { describe_room(field, report.advised.headroom); });
  field("assumptions", sentences(report.assumptions), "what nobody said and the answer depends on");
  field("warnings", estimate.warnings, "what the caller should look at");
  field("notes", estimate.notes, "what is not modelled");
}

}  // namespace llmcalc::render
