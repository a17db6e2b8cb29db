#include "tools/figures.hpp"

#include "tools/rule.hpp"

namespace llmcalc::test {

namespace {

Figure flops_of(const json& answer, const char* id, const char* member) {
  for (const json& each : answer.at("compute").at("flops")) {
    if (each.at("id") == id) return at(each, member);
  }
  return {};
}

auto flops(const char* id, const char* member, double factor, std::vector<const char*> places) {
  return [=](const json& answer) {
    const Figure found = flops_of(answer, id, member), more = product(factor, places)(answer);
    return found && more ? Figure(*found * *more) : Figure();
  };
}

/// Of the accelerator's peak, by a way to count FLOP; nothing where it is not told.
auto rate_of(const char* id) { return flops(id, "utilization", 1.0, {"time.peak_flops_per_second"}); }
auto done_of(const char* id) { return flops(id, "per_token", 1.0, {"time.tokens_per_second_per_gpu"}); }

bool fits(const json& answer) { return answer.at("verdict") == "fits" || answer.at("verdict") == "tight"; }
bool has_stages(const json& answer) { return !answer.at("memory").at("stages").empty(); }

bool is_of_steps(const json& answer) {
  const json& phase = answer.at("memory").at("peak_phase");
  return phase != "evaluation" && phase != "checkpoint";
}

/// Whether a sequence of the data is one of the step: a preference has two.
bool is_of_sequences(const json& answer) { return answer.at("question").at("algorithm").at("value") == "sft"; }

/// Share of the wall time that t of training between two checkpoints keep (docs/time.md, goodput); of n segments the
/// last has its checkpoint as the run's result.
Figure kept(const json& answer) {
  const auto in = [&](const char* name) { return at(answer, std::string("time.goodput.") + name); };
  const Figure t = in("checkpoint_interval_seconds"), d = in("checkpoint_seconds"), m = in("mtbf_seconds"),
               r = in("restart_seconds"), useful = at(answer, "time.useful_seconds");
  if (!t || !d || !m || !r || !useful || at(answer, "time.goodput.share") == 0.0) return {};
  const double save = *d * (1 - *t / *useful);
  return *t / (*m * std::exp(*r / *m) * std::expm1((*t + save) / *m));
}

const std::vector<Rule>& of_runs() {
  using enum Order;
  static const std::vector<Rule> rules{
      {"what must fit is the need", same, figure("needed_bytes"), figure("memory.peak_needed_bytes")},
      {"what is likely is the need", same, figure("error_bar.likely_bytes"), figure("needed_bytes")},
      {"the bar reaches down by its share", same, with_share("needed_bytes", -1, "error_bar.share_below"),
       figure("error_bar.low_bytes")},
      {"and up by its other", same, with_share("needed_bytes", 1, "error_bar.share"), figure("error_bar.high_bytes")},
      {"need and headroom are the capacity", same, plus(figure("needed_bytes"), figure("headroom_bytes")),
       figure("capacity_bytes")},
      {"a token passes no more than there is", at_most, figure("model.parameters_active"),
       figure("model.parameters_total")},
      {"tables are parameters", at_most, figure("model.parameters_embedding"), figure("model.parameters_total")},
      {"what is offloaded is a part of what the host has", at_most, figure("memory.host_bytes"),
       summed("memory.host_ledger", "bytes")},
      {"the highest phase is the peak", same, highest("memory.phases", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"and is that which is told", same, of_that("memory.phases", "phase", "memory.peak_phase", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"stages are counted from 0", same, highest("memory.stages", "stage"),
       where(has_stages, [](const json& answer) { return Figure(term(answer, "pp") - 1); })},
      {"what the driver shows of a run that fits is within the card", at_most,
       where(fits, figure("memory.peak_device_bytes")), figure("capacity_bytes")},
      {"no moment is above the peak", at_most, highest("memory.timeline", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"what a moment holds is held for something", same, apart, product(0.0, {})},
      {"no stage peaks higher than the highest", at_most, where(is_of_steps, figure("memory.peak_allocated_bytes")),
       highest("memory.stages", "peak_allocated_bytes")},
      {"all work of the hardware", same, flops("hardware", "per_token", 1.0, {"compute.tokens"}),
       flops("hardware", "total", 1.0, {})},
      {"and with a full square", same, flops("full_square", "per_token", 1.0, {"compute.tokens"}),
       flops("full_square", "total", 1.0, {})},
      {"utilization is that of the model's work", same, flops("model", "utilization", 1.0, {}), figure("time.mfu")},
      {"and of other countings of theirs", same, rate_of("hardware"), done_of("hardware")},
      {"with the whole square too", same, rate_of("full_square"), done_of("full_square")},
      {"and of six FLOP a parameter", same, rate_of("six_pd"), done_of("six_pd")},
      {"all tokens are seen in the useful time", same,
       of_all_gpus({"time.tokens_per_second_per_gpu", "time.useful_seconds"}),
       where(is_of_sequences, figure("compute.tokens"))},
      {"a slow host makes the bar no shorter", at_most, figure("time.step_error_bar"),
       figure("time.step_error_bar_above")},
      {"what is kept follows from failures, checkpoints and restarts", same, kept, figure("time.goodput.share")},
      {"failures come in the wall time", same, product(1.0, {"time.goodput.failures", "time.goodput.mtbf_seconds"}),
       figure("time.total_seconds")},
      {"what rests is no more than the peak", at_most, figure("memory.persistent_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"allocated is reserved", at_most, figure("memory.peak_allocated_bytes"), figure("memory.peak_reserved_bytes")},
      {"reserved is shown by the driver", at_most, figure("memory.peak_reserved_bytes"),
       figure("memory.peak_device_bytes")},
      {"a rank's host is one of its machine's", at_most, figure("memory.host_bytes"),
       figure("memory.host_needed_bytes")},
      {"a run is its tokens", same, flops("model", "per_token", 1.0, {"compute.tokens"}),
       flops("model", "total", 1.0, {})},
      {"a day is 8.64e19 FLOP", same, product(8.64e19, {"compute.pflop_days"}), flops("six_pd", "total", 1.0, {})},
      {"six FLOP a parameter and token", same, flops("six_pd", "per_token", 1.0, {}),
       product(6.0, {"model.parameters_active"})},
      {"recomputation is no less work", at_most, flops("model", "per_token", 1.0, {}),
       flops("hardware", "per_token", 1.0, {})},
      {"the square is no less than what is below the mask", at_most, flops("model", "per_token", 1.0, {}),
       flops("full_square", "per_token", 1.0, {})},
      {"utilization is of the peak", same, flops("model", "per_token", 1.0, {"time.tokens_per_second_per_gpu"}),
       product(1.0, {"time.mfu", "time.peak_flops_per_second"})},
      {"parts are the step", same, summed("time.step_parts", "seconds"), figure("time.step_seconds")},
      {"shares are of the step", same, summed("time.step_parts", "share"), product(1.0, {})},
      {"useful is a share of the wall", same, product(1.0, {"time.total_seconds", "time.goodput.share"}),
       figure("time.useful_seconds")},
      {"hours are of all accelerators", same,
       [](const json& answer) {
         const Figure total = at(answer, "time.total_seconds");
         return total ? Figure(*total * term(answer, "gpus") / 3600) : Figure();
       },
       figure("time.gpu_hours")},
      {"hours have a price", same, product(1.0, {"time.gpu_hours", "time.price_usd_per_gpu_hour"}),
       figure("time.cost_usd")},
      {"hours draw power", same, product(1e-3, {"time.gpu_hours", "time.energy.power_watts", "time.energy.pue"}),
       figure("time.energy.kilowatt_hours")},
      {"energy emits", same, product(1e-3, {"time.energy.kilowatt_hours", "time.carbon.grams_per_kilowatt_hour"}),
       figure("time.carbon.kilograms_co2e")},
  };
  return rules;
}

}  // namespace

std::vector<std::string> disagreements(std::string_view verb, const json& answer) {
  constexpr double rounding = 1e-6;
  std::vector<std::string> broken;
  if (verb != "fit" && verb != "serve") return broken;
  for (const Rule& rule : verb == "fit" ? of_runs() : of_servers()) {
    const Figure one = rule.one(answer), other = rule.other(answer);
    if (!one || !other) continue;
    const double above = *one - *other, borne = rounding * std::abs(*other);
    if (rule.order == Order::same ? std::abs(above) <= borne : above <= borne) continue;
    broken.push_back(std::string(rule.said) + ": " + std::to_string(*one) + " and " + std::to_string(*other));
  }
  return broken;
}

}  // namespace llmcalc::test
