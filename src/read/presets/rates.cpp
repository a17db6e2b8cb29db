#include "read/presets/entry.hpp"
#include "read/presets/fields.hpp"

namespace llmcalc::read {
namespace {

using spec::MeasuredRates;

constexpr double micros_per_second = 1e6;
constexpr double nanos_per_second = 1e9;

/// Source of what the others say: checked, and kept for the person who reads the file.
template <class TermGroup>
void for_the_reader(TermGroup& /*group*/, const JsonPlace& value) {
  value.sentences();
}

template <auto member, class TermGroup>
void set_micros(TermGroup& group, const JsonPlace& value) {
  group.*member = quantity::seconds(value.number() / micros_per_second);
}

constexpr Field<spec::ProductRates> product_fields[] = {
    {"tile_share_of_peak", set_positive<&spec::ProductRates::tile>},
    {"ceiling_share_of_peak", set_positive<&spec::ProductRates::ceiling>},
    {"best_tile_share_of_peak", set_positive<&spec::ProductRates::best_tile>},
    {"fill_elements", set<&spec::ProductRates::fill>},
    {"whole_waves", set_share<&spec::ProductRates::whole_waves>},
    {"narrow_over_wide", set_positive<&spec::ProductRates::narrow>},
    {"four_bits_over_narrow", set_positive<&spec::ProductRates::four_bits>},
    {"source", for_the_reader},
};

constexpr Field<spec::RunRates> run_fields[] = {
    {"products_over_alone", set_positive<&spec::RunRates::products>},
    {"narrow_over_alone", set_positive<&spec::RunRates::narrow>},
    {"large_over_products", set_positive<&spec::RunRates::large>},
    {"source", for_the_reader},
};

constexpr Field<spec::PowerRates> power_fields[] = {
    {"watts", set_positive<&spec::PowerRates::watts>},
    {"peak_tflops", set_positive<&spec::PowerRates::peak>},
    {"exponent", set<&spec::PowerRates::exponent>},
    {"source", for_the_reader},
};

constexpr Field<spec::AttentionRates> attention_kernel_fields[] = {
    {"share_of_peak", set_positive<&spec::AttentionRates::share>},
    {"fixed_keys", set<&spec::AttentionRates::fixed_keys>},
    {"exponential_elements", set<&spec::AttentionRates::exponential>},
    {"block_queries", set_positive<&spec::AttentionRates::queries>},
};

constexpr Field<spec::AttentionKernels> attention_fields[] = {
    {"share_of_products", set_positive<&spec::AttentionKernels::of_products>},
    {"native", set_group<&spec::AttentionKernels::native, attention_kernel_fields>},
    {"flash_2", set_group<&spec::AttentionKernels::flash_2, attention_kernel_fields>},
    {"source", for_the_reader},
};

constexpr Field<spec::MemoryRates> memory_fields[] = {
    {"kernels_share_of_bandwidth", set_positive<&spec::MemoryRates::kernels>},
    {"eager_share_of_bandwidth", set_positive<&spec::MemoryRates::eager>},
    {"cached_share_of_bandwidth", set_positive<&spec::MemoryRates::cached>},
    {"permuting_over_copying", set_positive<&spec::MemoryRates::permuting>},
    {"source", for_the_reader},
};

constexpr Field<spec::KernelRates> kernel_fields[] = {
    {"start_us", set_micros<&spec::KernelRates::start>},
    {"further_call_us", set_micros<&spec::KernelRates::further_call>},
    {"source", for_the_reader},
};

void set_update(spec::HostRates& host, const JsonPlace& value) {
  host.update = quantity::seconds(value.number() / nanos_per_second);
}

constexpr Field<spec::HostRates> host_fields[] = {
    {"operation_us", set_micros<&spec::HostRates::operation>},
    {"module_us", set_micros<&spec::HostRates::module>},
    {"heavy_module_us", set_micros<&spec::HostRates::heavy_module>},
    {"backward_over_forward", set<&spec::HostRates::backward>},
    {"compiled_over_eager", set<&spec::HostRates::compiled>},
    {"newer_since_year", set<&spec::HostRates::newer_since>},
    {"newer_over_older", set_positive<&spec::HostRates::newer>},
    {"newer_launch_us", set_micros<&spec::HostRates::newer_launch>},
    {"pinned_share_of_link", set_positive<&spec::HostRates::pinned>},
    {"cpu_adam_ns_per_parameter", set_update},
    {"drive_gb_s", set_positive<&spec::HostRates::drive>},
    {"source", for_the_reader},
};

constexpr Field<RatesPreset> part_fields[] = {
    {"arch", set<&RatesPreset::arch>},
    {"name", set<&RatesPreset::name>},
    {"bf16_over_fp32_below", set_positive<&RatesPreset::bf16_over_fp32_below>},
    {"bandwidth_gb_s_from", set_positive<&RatesPreset::bandwidth_from>},
};

/// What a condition is about must be said, as everything else has no architecture.
void set_parts(RatesPreset& preset, const JsonPlace& value) {
  read_fields(preset, value, part_fields);
  if (preset.arch.empty()) value.fail("needs the \"arch\" with which that of its accelerators begins");
}

template <auto member, const auto& fields>
void set_rates(RatesPreset& preset, const JsonPlace& value) {
  read_fields(preset.rates.*member, value, fields);
}

constexpr Field<RatesPreset> fields[] = {
    {"id", [](RatesPreset& preset, const JsonPlace& value) { preset.rates.id = read_name(value); }},
    {"base", set<&RatesPreset::base>},
    {"stands_for", set_parts},
    {"measured", set<&RatesPreset::rates, &spec::Rates::measured>},
    {"operations", set<&RatesPreset::rates, &spec::Rates::operations>},
    {"products", set_rates<&MeasuredRates::products, product_fields>},
    {"in_a_run", set_rates<&MeasuredRates::run, run_fields>},
    {"power", set_rates<&MeasuredRates::power, power_fields>},
    {"units",
     [](RatesPreset& preset, const JsonPlace& value) { set_positive<&MeasuredRates::units>(preset.rates, value); }},
    {"attention", set_rates<&MeasuredRates::attention, attention_fields>},
    {"memory", set_rates<&MeasuredRates::memory, memory_fields>},
    {"kernels", set_rates<&MeasuredRates::kernels, kernel_fields>},
    {"host", set_rates<&MeasuredRates::host, host_fields>},
};

}  // namespace

RatesPreset read_rates_entry(const JsonPlace& entry, const RatesPreset* base) {
  RatesPreset preset;
  if (base != nullptr) {
    preset.rates = base->rates;
    preset.rates.id.clear();
  }
  read_fields(preset, entry, fields);
  if (!preset.rates.known()) entry.fail("rates need an \"id\"");
  const spec::PowerRates& power = preset.rates.power;
  if (power.watts > 0.0 && power.peak == quantity::FlopRate()) {
    entry.fail("\"power\" with \"watts\" needs the \"peak_tflops\" that they were spent on");
  }
  return preset;
}

}  // namespace llmcalc::read
