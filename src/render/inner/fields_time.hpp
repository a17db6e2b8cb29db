// Tokens, FLOP, time, cost and energy of a run, described.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "quantity/lists.hpp"
#include "render/inner/fields.hpp"

#include <array>

namespace llmcalc::render {

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

/// What the run draws from the grid; every key is null where the accelerator's power is not known.
void describe_energy(auto& field, const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint());
  const bool known = given.has_value();
  field("kilowatt_hours", where(known, footprint.energy), "building included");
  field("power_watts", where(known, footprint.power), "mean of one accelerator with its share of the server");
  field("pue", where(known, footprint.pue), "of the building");
  describe_why(field, footprint.why_energy);
}

/// What producing that energy emits; every key is null where the energy is not known.
void describe_carbon(auto& field, const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint());
  const bool known = given.has_value();
  field("kilograms_co2e", where(known, footprint.carbon), "of the run");
  field("grams_per_kilowatt_hour", where(known, footprint.intensity), "of the grid");
  describe_why(field, footprint.why_carbon);
}

/// Time, cost and energy, which need an accelerator.
struct RunTime {
  const answer::Estimate* estimate;
};

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

}  // namespace llmcalc::render
