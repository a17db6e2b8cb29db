// From the steps of a run to its wall time, money and energy.

#include "answer/inner/parts.hpp"
#include "quantity/format.hpp"
#include "timing/energy.hpp"
#include "timing/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::answer {

using quantity::Bytes;
using quantity::Flops;
using quantity::flops;
using quantity::format_duration;
using quantity::hours;
using quantity::Seconds;
using quantity::Tokens;
using quantity::tokens;

namespace {

void price(const spec::Question& question, TimeAnswer& answer) {
  const auto& preset = question.gpu->price_per_hour;
  const auto hourly = question.pricing.price_per_hour ? question.pricing.price_per_hour : preset;
  if (!hourly) return;
  answer.price = hourly;
  answer.cost = *hourly * answer.gpu_hours;
  answer.price_source = question.pricing.price_per_hour ? "as given" : question.gpu->price_source;
}

/// "0.5", "249", "588,988"
std::string figure(double value) {
  constexpr double groups_read_better_from = 1e3;
  if (value < groups_read_better_from) return quantity::format_number(value, 4);
  return quantity::format_count(std::llround(value));
}

std::string source_of(const std::optional<quantity::CarbonIntensity>& given) {
  return given && *given != spec::world_carbon_intensity ? "as given" : std::string(spec::world_carbon_source);
}

void explain(const spec::Electricity& given, double gpu_hours, Footprint& footprint) {
  footprint.why_energy = {
      "GPU-hours x power x PUE",
      fmt::format("{} h x {} x {}", figure(gpu_hours), quantity::format_power(footprint.power), footprint.pue),
      fmt::format("power {}; PUE {}", given.power ? "as given" : timing::server_power_source,
                  given.pue ? "as given" : timing::default_pue_source)};
  footprint.why_carbon = {"energy x carbon intensity",
                          fmt::format("{} x {} g/kWh", quantity::format_energy(footprint.energy),
                                      quantity::in_grams_per_kilowatt_hour(footprint.intensity)),
                          footprint.intensity_source};
}

/// From the steps to the wall: goodput, time, money, energy.
/// \pre the accelerator, `answer.step` and `answer.useful` are known
void operate(const spec::Question& question, const Walks& walks, TimeAnswer& answer) {
  if (walks.size.trainable > 0) answer.goodput = goodput(question, walks.saved, answer.step, answer.useful);
  const double share = answer.goodput ? answer.goodput->share : 1.0;
  answer.total = answer.useful / share;
  answer.gpu_hours = static_cast<double>(question.layout.gpus) * quantity::in_hours(answer.total);
  if (share == 0.0) return;
  price(question, answer);
  answer.footprint = footprint(question, answer.gpu_hours);
}

/// Below, failures come faster than the run gets going again, and a thousandfold wall time tells nobody anything.
constexpr double least_share = 1e-3;

/// The sum over all ranks.
quantity::Bandwidth storage_bandwidth(const spec::Question& question) {
  return question.reliability.checkpoint_bandwidth.value_or(static_cast<double>(question.layout.nodes) *
                                                            timing::default_storage_bandwidth_per_node);
}

std::string since(Seconds mtbf) { return std::isinf(quantity::in_seconds(mtbf)) ? "infinite" : format_duration(mtbf); }

/// The ground of each input: the person's word or a default's source.
std::string sources(const spec::Reliability& given) {
  const auto of = [](bool stated, std::string_view source) { return stated ? std::string_view("as given") : source; };
  return fmt::format("Daly 2006, doi:10.1016/j.future.2004.11.016 equations 20 and 37; M: {}; d: {}; R: {}",
                     of(given.mtbf.has_value(), timing::default_mtbf_source),
                     of(given.checkpoint_bandwidth.has_value(), timing::default_storage_source),
                     of(given.restart_time.has_value(), timing::default_restart_source));
}

Explanation explain(const spec::Question& question, const Goodput& goodput) {
  return {"t / (M exp(R/M) (exp((t + d)/M) - 1))",
          fmt::format("t = {} between checkpoints, d = {} / {} = {}, M = {}, R = {}", format_duration(goodput.interval),
                      quantity::format_gigabytes(goodput.checkpoint),
                      quantity::format_bandwidth(storage_bandwidth(question)), format_duration(goodput.save),
                      since(goodput.mtbf), format_duration(goodput.restart)),
          sources(question.reliability)};
}

FlopFigure figure(std::string id, std::string label, Flops per_token, Tokens budget, Explanation why) {
  return {std::move(id), std::move(label), per_token, per_token * quantity::in_tokens(budget), std::move(why), 0.0};
}

std::vector<FlopFigure> flop_figures(const spec::Question& question, const Walks& walks, Tokens budget) {
  const auto per_step_tokens = static_cast<double>(question.training.micro_batch_tokens());
  const auto active = static_cast<double>(walks.size.active);
  const Flops six = flops(6.0 * active);
  const Flops model = walks.work.model() / per_step_tokens;
  const Flops full_square = walks.work.full_square() / per_step_tokens;
  const Flops hardware = walks.work.hardware() / per_step_tokens;
  return {
      figure(
          "six_pd", "C = 6PD", six, budget,
          {"6 x active parameters x tokens", fmt::format("6 x {} a token", quantity::format_count(walks.size.active)),
           "Kaplan et al. 2020, arXiv:2001.08361 section 2.1"}),
      figure("model", "model FLOPs (causal attention)", model, budget,
             {"forward and backward matrix products, attention below the mask only",
              fmt::format("{} forward + {} backward a micro-batch", quantity::format_flops(walks.work.forward),
                          quantity::format_flops(walks.work.backward)),
              "sum over the step program; convention of Megatron-LM training.py since 2025"}),
      figure("hardware", "hardware FLOPs (with recomputation)", hardware, budget,
             {"model FLOPs + recomputed forward work",
              fmt::format("+ {} recomputed, {} inside attention kernels a micro-batch",
                          quantity::format_flops(walks.work.recompute),
                          quantity::format_flops(walks.work.kernel_recompute)),
              "Korthikanti et al. 2022, arXiv:2205.05198 appendix A; Dao 2023, arXiv:2307.08691"}),
      figure("full_square", "model FLOPs (full attention)", full_square, budget,
             {"forward and backward matrix products, attention as a full square",
              fmt::format("+ {} above the mask a micro-batch", quantity::format_flops(3.0 * walks.work.masked)),
              "Narayanan et al. 2021, arXiv:2104.04473 appendix; Chowdhery et al. 2022, arXiv:2204.02311 appendix B"}),
  };
}

/// The step of sequences that end with their sample, which are shorter than the longest that memory must hold.
/// Micro-batches are padded to their own longest sample, so that those of several take somewhat longer.
quantity::Seconds step_of_length(const spec::Question& question, std::int64_t length, const TimeAnswer& answer) {
  if (length == question.training.seq) return answer.step;
  spec::Question shorter = question;
  shorter.training.seq = length;
  const Walks walks = walk(shorter);
  TimeAnswer of_shorter;
  of_shorter.flops = flop_figures(shorter, walks, answer.tokens);
  of_shorter.peak = answer.peak;
  clock_step(shorter, walks, of_shorter);
  return of_shorter.step;
}

void clock(const spec::Question& question, const Walks& walks, const Budget& budget, TimeAnswer& answer) {
  const auto& gpu = *question.gpu;
  answer.peak = spec::matrix_peak(gpu, question.training.precision.compute);
  clock_step(question, walks, answer);
  answer.useful = budget.steps(question.training) * step_of_length(question, budget.length, answer);
  operate(question, walks, answer);
}

/// "50,000 samples x 3 epochs x 350 tokens"
Budget of_samples(const spec::DataBudget& data, std::int64_t seq) {
  const auto longest = static_cast<double>(seq);
  const double each = std::min(data.sample_tokens.value_or(longest), longest);
  std::string source = quantity::format_count(std::llround(*data.samples)) + " samples";
  if (data.epochs != 1.0) source += fmt::format(" x {} epochs", data.epochs);
  source += fmt::format(" x {} tokens{}", each, data.packing ? ", packed" : "");
  const bool fills = data.packing || each == longest;
  return {tokens(*data.samples * data.epochs * each), source, fills ? seq : std::llround(std::ceil(each))};
}

}  // namespace

std::optional<Footprint> footprint(const spec::Question& question, double gpu_hours) {
  const auto& given = question.electricity;
  const auto power = given.power ? given.power : timing::server_power(*question.gpu);
  if (!power) return std::nullopt;
  Footprint answer;
  answer.power = *power;
  answer.pue = given.pue.value_or(timing::default_pue);
  answer.energy = timing::facility_energy(hours(gpu_hours), answer.power, answer.pue);
  answer.intensity = given.carbon_intensity.value_or(spec::world_carbon_intensity);
  answer.intensity_source = source_of(given.carbon_intensity);
  answer.carbon = answer.energy * answer.intensity;
  explain(given, gpu_hours, answer);
  return answer;
}

WallClock wall_clock(const spec::Question& question, Bytes checkpoint) {
  const auto& given = question.reliability;
  WallClock clock;
  clock.checkpoint = checkpoint;
  clock.save = clock.checkpoint / storage_bandwidth(question);
  clock.restart = given.restart_time.value_or(timing::default_restart);
  clock.mtbf = given.mtbf.value_or(timing::default_mtbf) / static_cast<double>(question.layout.gpus);
  clock.stated_interval = given.checkpoint_interval.has_value();
  clock.interval = given.checkpoint_interval.value_or(timing::best_interval(clock.save, clock.mtbf));
  clock.long_run_ends = timing::goodput(clock.interval, clock.save, clock.mtbf, clock.restart) >= least_share;
  return clock;
}

Seconds WallClock::segment(Seconds step, Seconds useful) const {
  return std::min(stated_interval ? interval : std::max(step, interval), useful);
}

/// The last checkpoint is the run's result and no loss, so n segments have n - 1 saves.
double WallClock::share(Seconds step, Seconds useful) const {
  const Seconds between = segment(step, useful);
  const Seconds mean_save = (1.0 - between / useful) * save;
  const double share = timing::goodput(between, mean_save, mtbf, restart);
  return share >= least_share ? share : 0.0;
}

Goodput goodput(const spec::Question& question, Bytes checkpoint, Seconds step, Seconds useful) {
  const WallClock clock = wall_clock(question, checkpoint);
  Goodput answer;
  answer.stated = question.reliability.stated();
  answer.checkpoint = clock.checkpoint;
  answer.save = clock.save;
  answer.restart = clock.restart;
  answer.mtbf = clock.mtbf;
  answer.interval = clock.segment(step, useful);
  answer.share = clock.share(step, useful);
  answer.failures = useful / answer.share / answer.mtbf;
  answer.why = explain(question, answer);
  return answer;
}

Budget token_budget(const spec::Question& question, std::int64_t parameters) {
  const auto& data = question.pricing.data;
  const auto total = static_cast<double>(parameters);
  const std::int64_t seq = question.training.seq;
  if (data.tokens) return {*data.tokens, "as given", seq};
  if (data.samples) return of_samples(data, seq);
  if (data.steps) {
    return {tokens(*data.steps * step_tokens(question)),
            fmt::format("{} steps x {} tokens", quantity::format_count(std::llround(*data.steps)),
                        quantity::format_count(question.training.step_tokens())),
            seq};
  }
  if (data.tokens_per_parameter) {
    return {tokens(*data.tokens_per_parameter * total),
            fmt::format("{} x parameters, as given", *data.tokens_per_parameter), seq};
  }
  return {tokens(compute_optimal_ratio * total), "default: 20 x parameters (Hoffmann et al. 2022, arXiv:2203.15556)",
          seq};
}

TimeAnswer time_answer(const spec::Question& question, const Walks& walks) {
  TimeAnswer answer;
  const Budget budget = token_budget(question, walks.size.total);
  answer.tokens = budget.tokens;
  answer.tokens_source = budget.source;
  answer.flops = flop_figures(question, walks, budget.tokens);
  answer.pflop_days = quantity::in_pflop_days(answer.flops[0].total);
  if (question.gpu) clock(question, walks, budget, answer);
  return answer;
}

}  // namespace llmcalc::answer
