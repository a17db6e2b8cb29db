// From the steps of a run to its wall time, money and energy.
#include "llmcalc/answer/operation.hpp"

#include "answer/inner/parts.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"
#include "timing/energy.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llmcalc::answer {

using quantity::hours;

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

void operate(const spec::Question& question, const Walks& walks, TimeAnswer& answer) {
  if (walks.size.trainable > 0) answer.goodput = goodput(question, walks.program, answer.step, answer.useful);
  const double share = answer.goodput ? answer.goodput->share : 1.0;
  answer.total = answer.useful / share;
  answer.gpu_hours = static_cast<double>(question.layout.gpus) * quantity::in_hours(answer.total);
  if (share == 0.0) return;
  price(question, answer);
  answer.footprint = footprint(question, answer.gpu_hours);
}

}  // namespace llmcalc::answer
