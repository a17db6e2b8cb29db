// One entry of presets/generations -> what a generation of accelerators can do.
#include "read/presets/fields.hpp"
#include "read/presets/rates.hpp"

namespace llmcalc::read {
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
    "states_in_prompts",
    "fused_ggml",
    "torch_servers",
    "small_steps",
    "measured_servers",
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

template <auto member>
void set_micros(GgmlRates& rates, const JsonPlace& value) {
  constexpr double micros_per_second = 1e6;
  rates.*member = quantity::seconds(value.number() / micros_per_second);
}

void set_unpacked(GgmlRates& rates, const JsonPlace& value) {
  constexpr double gigabytes_per_teraflop = 1e9 / 1e12;
  rates.unpacked = value.number() * gigabytes_per_teraflop;
}

template <class TermGroup>
void for_the_reader(TermGroup& /*group*/, const JsonPlace& value) {
  value.sentences();
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

constexpr Field<GenerationPreset> part_fields[] = {
    {"vendor", set<&GenerationPreset::vendor>},
    {"arch", set<&GenerationPreset::arch>},
    {"memory", set<&GenerationPreset::memory>},
};

void set_parts(GenerationPreset& preset, const JsonPlace& value) {
  read_fields(preset, value, part_fields);
  if (preset.arch.empty()) value.fail("needs the \"arch\" with which that of its accelerators begins");
}

template <auto member>
void set_mebibytes(GenerationPreset& preset, const JsonPlace& value) {
  preset.facts.*member = quantity::mib(value.integer(quantity::kibi));
}

constexpr Field<GenerationPreset> fields[] = {
    {"id", [](GenerationPreset& preset, const JsonPlace& value) { preset.id = read_name(value); }},
    {"base", [](GenerationPreset& /*preset*/, const JsonPlace& value) { read_name(value); }},
    {"stands_for", set_parts},
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
  read_fields(preset, entry, fields);
  if (preset.id.empty()) entry.fail("a generation needs an \"id\"");
  return preset;
}

}  // namespace llmcalc::read
