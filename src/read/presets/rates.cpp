
#include "read/presets/fields.hpp"

namespace llmcalc::read {
namespace {

using spec::MeasuredRates;

quantity::Seconds microseconds(const JsonPlace& value) {
  constexpr double per_second = 1e6;
  return quantity::seconds(value.number() / per_second);
}

quantity::Seconds nanoseconds(const JsonPlace& value) {
  constexpr double per_second = 1e9;
  return quantity::seconds(value.number() / per_second);
}

constexpr auto to_rates = &RatesPreset::rates;

constexpr Field<RatesPreset> fields[] = {
#include "fields/rates.inc"
};

/// The subject of a condition must be said, as everything else has no architecture.
template <class Preset>
void require_arch(const Preset& preset, const JsonPlace& entry) {
  constexpr const char* condition = "stands_for";
  if (!entry.has(condition) || !preset.arch.empty()) return;
  entry.member(condition).fail("needs the \"arch\" with which that of its accelerators begins");
}

}  // namespace

RatesPreset read_rates_entry(const JsonPlace& entry, const RatesPreset* base) {
  RatesPreset preset;
  if (base != nullptr) {
    preset.rates = base->rates;
    preset.rates.id.clear();
  }
  read_fields(preset, entry, fields);
  require_arch(preset, entry);
  if (!preset.rates.known()) entry.fail("rates need an \"id\"");
  const spec::PowerRates& power = preset.rates.power;
  if (power.watts > 0.0 && power.peak == quantity::FlopRate()) {
    entry.fail("\"power\" with \"watts\" needs the \"peak_tflops\" that they were spent on");
  }
  return preset;
}

namespace {

using spec::GenerationFacts;
using spec::GgmlRates;

void set_abilities(GenerationPreset& preset, const JsonPlace& value) {
  for (const std::string& key : value.keys()) {
    if (key == "source") continue;
    const auto* word = spec::find_name<spec::Ability>(key);
    if (word == nullptr) fail_unknown_key(value, key, spec::all_names<spec::Ability>());
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(word->value);
    const bool can = value.member(key).boolean();
    preset.facts.abilities = can ? preset.facts.abilities | bit : preset.facts.abilities & ~bit;
  }
}

double gigabytes_a_teraflop(const JsonPlace& value) {
  constexpr double ratio = 1e9 / 1e12;
  return value.number() * ratio;
}

constexpr Field<GenerationPreset> generation_fields[] = {
#include "fields/generation.inc"
};

}  // namespace

GenerationPreset read_generation_entry(const JsonPlace& entry, const GenerationPreset* base) {
  GenerationPreset preset;
  if (base != nullptr) preset = *base;
  preset.arch.clear();
  read_fields(preset, entry, generation_fields);
  require_arch(preset, entry);
  if (preset.id.empty()) entry.fail("a generation needs an \"id\"");
  return preset;
}

}  // namespace llmcalc::read
