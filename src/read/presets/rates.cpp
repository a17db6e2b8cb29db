
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
    {"native", set_group<attention_kernel_fields, &spec::AttentionKernels::native>},
    {"flash_2", set_group<attention_kernel_fields, &spec::AttentionKernels::flash_2>},
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
    {"launch_us", set_micros<&spec::HostRates::launch>},
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

/// The subject of a condition must be said, as everything else has no architecture.
template <const auto& fields, class Preset>
void set_parts(Preset& preset, const JsonPlace& value) {
  read_fields(preset, value, fields);
  if (preset.arch.empty()) value.fail("needs the \"arch\" with which that of its accelerators begins");
}

constexpr auto to_rates = &RatesPreset::rates;

constexpr Field<RatesPreset> fields[] = {
    {"id", [](RatesPreset& preset, const JsonPlace& value) { preset.rates.id = read_name(value); }},
    {"base", set<&RatesPreset::base>},
    {"stands_for", set_parts<part_fields>},
    {"measured", set<to_rates, &spec::Rates::measured>},
    {"operations", set<to_rates, &spec::Rates::operations>},
    {"products", set_group<product_fields, to_rates, &MeasuredRates::products>},
    {"in_a_run", set_group<run_fields, to_rates, &MeasuredRates::run>},
    {"power", set_group<power_fields, to_rates, &MeasuredRates::power>},
    {"units", set_positive<to_rates, &MeasuredRates::units>},
    {"attention", set_group<attention_fields, to_rates, &MeasuredRates::attention>},
    {"memory", set_group<memory_fields, to_rates, &MeasuredRates::memory>},
    {"kernels", set_group<kernel_fields, to_rates, &MeasuredRates::kernels>},
    {"host", set_group<host_fields, to_rates, &MeasuredRates::host>},
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

namespace {

using spec::Ability;
using spec::GenerationFacts;
using spec::GgmlRates;

/// An array that a missing word would leave shorter than the enumeration does not compile: `eager` is its last.
constexpr std::array<std::string_view, static_cast<std::size_t>(Ability::eager) + 1> ability_words{
    "flash_attention",
    "triton_attention",
    "narrow_attention",
    "large_workspaces",
    "grows_segments",
    "nccl",
    "multicast",
    "codes",
    "nvfp4",
    "mixtures_in_mxfp4",
    "grouped_products",
    "states_in_prompts",
    "fused_ggml",
    "prompt_graphs",
    "torch_servers",
    "small_steps",
    "measured_servers",
    "measured_runs",
    "any_order",
    "flash_for_equal_results",
    "superchip",
    "eager"};

void set_abilities(GenerationPreset& preset, const JsonPlace& value) {
  for (const std::string& key : value.keys()) {
    if (key == "source") continue;
    const auto word = std::ranges::find(ability_words, key);
    if (word == ability_words.end()) fail_unknown_key(value, key, ability_words);
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(word - ability_words.begin());
    const bool can = value.member(key).boolean();
    preset.facts.abilities = can ? preset.facts.abilities | bit : preset.facts.abilities & ~bit;
  }
}

void set_unpacked(GgmlRates& rates, const JsonPlace& value) {
  constexpr double gigabytes_per_teraflop = 1e9 / 1e12;
  rates.unpacked = value.number() * gigabytes_per_teraflop;
}

constexpr Field<GgmlRates> ggml_fields[] = {
    {"half_share_of_bandwidth", set_positive<&GgmlRates::half>},
    {"codes_share_of_bandwidth", set_positive<&GgmlRates::codes>},
    {"unpacked_gb_s_per_fp32_tflops", set_unpacked},
    {"cache_share_of_bandwidth", set_positive<&GgmlRates::cache>},
    {"layer_us", set_micros<&GgmlRates::layer>},
    {"fused_layer_us", set_micros<&GgmlRates::fused>},
    {"token_us", set_micros<&GgmlRates::token>},
    {"further_card_us", set_micros<&GgmlRates::card>},
    {"prompt_half_share_of_peak", set_positive<&GgmlRates::prompt_half>},
    {"prompt_codes_share_of_peak", set_positive<&GgmlRates::prompt>},
    {"score_passes", set<&GgmlRates::scores>},
    {"pipeline_over_one", set_positive<&GgmlRates::cards>},
    {"activation_passes", set<&GgmlRates::activations>},
    {"chunk_layer_us", set_micros<&GgmlRates::chunk>},
    {"source", for_the_reader},
};

void set_ggml(GenerationPreset& preset, const JsonPlace& value) {
  if (!value.has("as")) return read_fields(preset.facts.ggml, value, ggml_fields);
  preset.ggml_as = value.member("as").string();
}

constexpr Field<GenerationPreset> generation_part_fields[] = {
    {"vendor", set<&GenerationPreset::vendor>},
    {"arch", set<&GenerationPreset::arch>},
    {"memory", set<&GenerationPreset::memory>},
};

template <auto member>
void set_mebibytes(GenerationPreset& preset, const JsonPlace& value) {
  preset.facts.*member = quantity::mib(value.integer(quantity::kibi));
}

constexpr Field<GenerationPreset> generation_fields[] = {
    {"id", [](GenerationPreset& preset, const JsonPlace& value) { preset.id = read_name(value); }},
    {"base", [](GenerationPreset& /*preset*/, const JsonPlace& value) { read_name(value); }},
    {"stands_for", set_parts<generation_part_fields>},
    {"year", set<&GenerationPreset::facts, &GenerationFacts::year>},
    {"can", set_abilities},
    {"driver_keeps_mib", set_mebibytes<&GenerationFacts::driver_keeps>},
    {"ggml_context_mib", set_mebibytes<&GenerationFacts::ggml_context>},
    {"largest_graph", set<&GenerationPreset::facts, &GenerationFacts::largest_graph>},
    {"prompts_in_a_row", set_positive<&GenerationPreset::facts, &GenerationFacts::prompts_in_a_row>},
    {"ggml", set_ggml},
    {"source", for_the_reader},
};

}  // namespace

GenerationPreset read_generation_entry(const JsonPlace& entry, const GenerationPreset* base) {
  GenerationPreset preset;
  if (base != nullptr) preset = *base;
  preset.arch.clear();
  read_fields(preset, entry, generation_fields);
  if (preset.id.empty()) entry.fail("a generation needs an \"id\"");
  return preset;
}

}  // namespace llmcalc::read
