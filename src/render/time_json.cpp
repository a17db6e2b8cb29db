#include "render/inner/time_json.hpp"

#include "render/inner/json_list.hpp"

#include <cmath>

namespace llmcalc::render {
namespace {

/// Null where it is infinite: of a run that never finishes, or between failures that never come.
Json unless_infinite(double value) { return std::isinf(value) ? Json() : finite(value); }

Json step_part(const answer::StepPart& part, quantity::Seconds step) {
  Json object = {{"id", part.id},
                 {"label", part.label},
                 {"seconds", finite(in_seconds(part.time))},
                 {"share", finite(part.time / step)}};
  add_explanation(object, part.why);
  return object;
}

Json goodput(const std::optional<answer::Goodput>& given) {
  const answer::Goodput goodput = given.value_or(answer::Goodput{});
  const auto if_given = [&](double value) { return given ? unless_infinite(value) : Json(); };
  Json object = {{"share", if_given(goodput.share)},
                 {"mtbf_seconds", if_given(in_seconds(goodput.mtbf))},
                 {"failures", if_given(goodput.failures)},
                 {"checkpoint_bytes", given ? Json(in_bytes(goodput.checkpoint)) : Json()},
                 {"checkpoint_seconds", if_given(in_seconds(goodput.save))},
                 {"checkpoint_interval_seconds", if_given(in_seconds(goodput.interval))},
                 {"restart_seconds", if_given(in_seconds(goodput.restart))}};
  add_explanation(object, goodput.why);
  return object;
}

Json energy(const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint{});
  const auto if_given = [&](double value) { return given ? finite(value) : Json(); };
  Json object = {{"kilowatt_hours", if_given(in_kilowatt_hours(footprint.energy))},
                 {"power_watts", if_given(in_watts(footprint.power))},
                 {"pue", if_given(footprint.pue)}};
  add_explanation(object, footprint.why_energy);
  return object;
}

Json carbon(const std::optional<answer::Footprint>& given) {
  const answer::Footprint footprint = given.value_or(answer::Footprint{});
  const auto if_given = [&](double value) { return given ? finite(value) : Json(); };
  Json object = {{"kilograms_co2e", if_given(in_kilograms(footprint.carbon))},
                 {"grams_per_kilowatt_hour", if_given(in_grams_per_kilowatt_hour(footprint.intensity))}};
  add_explanation(object, footprint.why_carbon);
  return object;
}

}  // namespace

Json time_json(const answer::Estimate& estimate) {
  const auto& answer = estimate.compute;
  const auto if_timed = [&](double value) { return estimate.timed ? unless_infinite(value) : Json(); };
  const auto part_of_step = [&](const answer::StepPart& part) { return step_part(part, answer.step); };
  const auto text_if_timed = [&](std::string_view text) { return estimate.timed ? text_or_null(text) : Json(); };
  return {{"mfu", if_timed(answer.mfu)},
          {"mfu_source", text_if_timed(answer.mfu_source)},
          {"peak_flops_per_second", if_timed(in_flops_per_second(answer.peak))},
          {"step_seconds", if_timed(in_seconds(answer.step))},
          {"tokens_per_second_per_gpu", if_timed(answer.tokens_per_gpu)},
          {"step_error_bar", if_timed(answer.error_share)},
          {"step_error_bar_source", text_if_timed(answer.error_source)},
          {"step_parts", json_list(answer.step_parts, part_of_step)},
          {"useful_seconds", if_timed(in_seconds(answer.useful))},
          {"goodput", goodput(answer.goodput)},
          {"total_seconds", if_timed(in_seconds(answer.total))},
          {"gpu_hours", if_timed(answer.gpu_hours)},
          {"cost_usd", answer.cost ? if_timed(in_dollars(*answer.cost)) : Json()},
          {"price_usd_per_gpu_hour", answer.price ? if_timed(in_dollars(*answer.price)) : Json()},
          {"price_source", text_if_timed(answer.price_source)},
          {"energy", energy(answer.footprint)},
          {"carbon", carbon(answer.footprint)}};
}

}  // namespace llmcalc::render
