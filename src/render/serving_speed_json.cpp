// The speed of a server in JSON; docs/json.md says what each key means.
#include "render/inner/serving_speed_json.hpp"

#include "render/inner/json_list.hpp"
#include "spec/names.hpp"

#include <cmath>

namespace llmcalc::render {
namespace {

using quantity::in_seconds;
using serving::Speed;

/// Null where requests come faster than they are answered: nothing of it is ever steady.
Json steady(double figure) { return std::isinf(figure) ? Json() : finite(figure); }

Json speed_part_json(const serving::SpeedPart& part) {
  return {{"id", part.id}, {"label", part.label}, {"seconds", finite(in_seconds(part.time))}};
}

Json bar_json(const trust::Spread& bar) { return {{"below", finite(bar.below)}, {"above", finite(bar.above)}}; }

Json cost_json(const serving::TokenCost& cost) {
  const auto dollars = [](const std::optional<quantity::Money>& money) -> Json {
    return money ? finite(quantity::in_dollars(*money)) : Json(nullptr);
  };
  return {{"input_usd_per_million", dollars(cost.input)},
          {"output_usd_per_million", dollars(cost.output)},
          {"output_with_prompts_usd_per_million", dollars(cost.all)},
          {"energy_kwh_per_million", cost.energy ? finite(quantity::in_kilowatt_hours(*cost.energy)) : Json(nullptr)},
          {"price_source", text_or_null(cost.source)}};
}

Json plan_json(const search::ServerPlan& plan) {
  const auto& question = plan.question;
  return {{"engine", spec::name_of(question.serving.engine)},
          {"quant", spec::name_of(question.serving.quant)},
          {"tp", question.layout.tp},
          {"pp", question.layout.pp},
          {"ep", question.layout.ep},
          {"attention_dp", question.serving.layout.attention_dp},
          {"dp", question.layout.dp},
          {"concurrency", question.serving.load.concurrency},
          {"speed", speed_json(plan.speed)}};
}

}  // namespace

Json speed_json(const Speed& speed) {
  return {{"concurrency", steady(speed.concurrency)},
          {"running", finite(speed.running)},
          {"queued", steady(speed.queued)},
          {"saturated", speed.saturated},
          {"prefill_s", finite(in_seconds(speed.prefill))},
          {"decode_step_s", finite(in_seconds(speed.decode_step))},
          {"ttft_s", steady(in_seconds(speed.ttft))},
          {"tpot_s", finite(in_seconds(speed.tpot))},
          {"admission_s", steady(in_seconds(speed.admission))},
          {"request_s", steady(in_seconds(speed.request))},
          {"requests_per_s", finite(speed.requests_per_s)},
          {"tokens_per_s", finite(speed.tokens_per_s)},
          {"prompt_tokens_per_s", finite(speed.prompt_tokens_per_s)},
          {"tokens_per_s_per_gpu", finite(speed.tokens_per_s_per_gpu)},
          {"tokens_per_s_per_user", finite(speed.tokens_per_s_per_user)},
          {"parts", json_list(speed.parts, speed_part_json)},
          {"error_bar", {{"ttft", bar_json(speed.ttft_bar)}, {"tpot", bar_json(speed.tpot_bar)}}},
          {"measured_on", text_or_null(speed.measured_on)},
          {"cost", cost_json(speed.cost)}};
}

Json plans_json(const search::ServerPlans& plans) {
  return {{"layouts", plans.layouts},
          {"starting", plans.starting},
          {"estimates", plans.estimates},
          {"best", json_list(plans.best, plan_json)}};
}

}  // namespace llmcalc::render
