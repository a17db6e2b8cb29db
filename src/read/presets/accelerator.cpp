#include "quantity/lists.hpp"
#include "read/presets/entry.hpp"
#include "read/presets/fields.hpp"

namespace llmcalc::read {
namespace {

using spec::Accelerator;
using Peaks = Accelerator::Peaks;

/// A pebibyte: a thousand times the largest accelerator.
constexpr std::int64_t most_gib = quantity::kibi * quantity::kibi;

/// Memory is marketed in "GB" and built in GiB: an "80 GB" H100 offers 81,559 MiB (nvidia-smi).
void set_nominal(Accelerator& gpu, const JsonPlace& value) {
  gpu.memory_nominal = quantity::gib(value.integer(most_gib));
}

void set_usable(Accelerator& gpu, const JsonPlace& value) {
  gpu.memory_usable = quantity::mib(value.integer(most_gib * quantity::kibi));
}

constexpr std::string_view evidence_words[] = {"verified", "unverified", "heuristic"};

/// "verified": read in nvidia-smi's or the framework's own output; otherwise "unverified" or "heuristic".
void set_usable_evidence(Accelerator& gpu, const JsonPlace& value) {
  const std::string word = value.string();
  if (!quantity::contains(evidence_words, word))
    value.fail("unknown word '" + word + "'", quantity::did_you_mean(word, evidence_words));
  gpu.usable_verified = word == evidence_words[0];
}

constexpr Field<Accelerator> memory_fields[] = {
    {"nominal_gb", set_nominal},
    {"usable_mib", set_usable},
    {"usable_evidence", set_usable_evidence},
    {"type", set<&Accelerator::memory_type>},
    {"bandwidth_gb_s", set_positive<&Accelerator::memory_bandwidth>},
};

constexpr Field<Peaks> peak_fields[] = {
    {"fp64", set_positive<&Peaks::fp64>}, {"fp64_matrix", set_positive<&Peaks::fp64_matrix>},
    {"fp32", set_positive<&Peaks::fp32>}, {"fp32_matrix", set_positive<&Peaks::fp32_matrix>},
    {"tf32", set_positive<&Peaks::tf32>}, {"fp16", set_positive<&Peaks::fp16>},
    {"bf16", set_positive<&Peaks::bf16>}, {"fp8", set_positive<&Peaks::fp8>},
    {"int8", set_positive<&Peaks::int8>}, {"fp4", set_positive<&Peaks::fp4>},
};

/// Checked, and kept for the person who reads the file: nothing is computed from it.
void for_reference(Accelerator& /*gpu*/, const JsonPlace& value) { value.number(); }

constexpr Field<Accelerator> interconnect_fields[] = {
    {"name", set<&Accelerator::interconnect>},
    {"one_way_gb_s", set_positive<&Accelerator::link>},
    {"both_ways_gb_s", for_reference},
    {"joins", set<&Accelerator::joined>},
};

constexpr Field<Accelerator> pcie_fields[] = {
    {"gen", for_reference},
    {"lanes", for_reference},
    {"one_way_gb_s", set_positive<&Accelerator::pcie>},
};

constexpr Field<Accelerator> host_link_fields[] = {
    {"name", [](Accelerator& /*gpu*/, const JsonPlace& value) { value.string(); }},
    {"one_way_gb_s", set<&Accelerator::host_link>},
};

void set_cache(Accelerator& gpu, const JsonPlace& value) {
  gpu.cache = quantity::mib(value.integer(most_gib * quantity::kibi));
}

constexpr Field<Accelerator> chip_fields[] = {
    {"units", set_positive<&Accelerator::units>},
    {"cache_mib", set_cache},
    {"boost_mhz", for_reference},
    {"fp16_flop_per_unit_clock", for_reference},
};

constexpr Field<Accelerator> ceiling_fields[] = {
    {"share_of_peak", set_positive<&Accelerator::matmul_ceiling>},
    {"source", set<&Accelerator::matmul_ceiling_source>},
};

void set_host_memory(Accelerator& gpu, const JsonPlace& value) {
  gpu.host_memory = quantity::gib(value.integer(most_gib));
}

constexpr Field<Accelerator> host_memory_fields[] = {
    {"gib_each", set_host_memory},
    {"source", set<&Accelerator::host_memory_source>},
};

constexpr Field<Accelerator> price_fields[] = {
    {"usd_per_hour", set<&Accelerator::price_per_hour>},
    {"source", set<&Accelerator::price_source>},
};

template <auto member>
void in_gpu(AcceleratorPreset& preset, const JsonPlace& value) {
  assign(preset.accelerator.*member, value);
}

template <auto member>
void positive_in_gpu(AcceleratorPreset& preset, const JsonPlace& value) {
  set_positive<member>(preset.accelerator, value);
}

template <const auto& fields>
void set_group(AcceleratorPreset& preset, const JsonPlace& value) {
  read_fields(preset.accelerator, value, fields);
}

constexpr Field<AcceleratorPreset> fields[] = {
    {"id", [](AcceleratorPreset& preset, const JsonPlace& value) { preset.accelerator.id = read_name(value); }},
    {"base", set<&AcceleratorPreset::base>},
    {"aliases", [](AcceleratorPreset& preset, const JsonPlace& value) { preset.aliases = read_names(value); }},
    {"name", in_gpu<&Accelerator::name>},
    {"vendor", in_gpu<&Accelerator::vendor>},
    {"arch", in_gpu<&Accelerator::arch>},
    {"year", in_gpu<&Accelerator::year>},
    {"memory", set_group<memory_fields>},
    {"peak_tflops", [](AcceleratorPreset& preset,
                       const JsonPlace& value) { read_fields(preset.accelerator.peaks, value, peak_fields); }},
    {"bf16_matmul_ceiling", set_group<ceiling_fields>},
    {"interconnect", set_group<interconnect_fields>},
    {"pcie", set_group<pcie_fields>},
    {"host_link", set_group<host_link_fields>},
    {"host_memory", set_group<host_memory_fields>},
    {"gpus_per_node", in_gpu<&Accelerator::gpus_per_node>},
    {"network_gbit_s", positive_in_gpu<&Accelerator::network_gbps>},
    {"tdp_w", positive_in_gpu<&Accelerator::tdp_watts>},
    {"chip", set_group<chip_fields>},
    {"price", set_group<price_fields>},
    {"sources",
     [](AcceleratorPreset& preset, const JsonPlace& value) { preset.accelerator.sources = value.sentences(); }},
    {"rates",
     [](AcceleratorPreset& preset, const JsonPlace& value) {
       preset.rates = read_name(value);
       preset.rates_place = value.text();
     }},
    {"verification", in_gpu<&Accelerator::verification>},
    {"notes", [](AcceleratorPreset& preset, const JsonPlace& value) { preset.accelerator.notes = value.sentences(); }},
};

bool has_a_peak(const Peaks& p) {
  return p.fp64 || p.fp64_matrix || p.fp32 || p.fp32_matrix || p.tf32 || p.fp16 || p.bf16 || p.fp8 || p.int8 || p.fp4;
}

void complete(Accelerator& gpu, const JsonPlace& entry) {
  if (gpu.id.empty()) entry.fail("the accelerator needs an \"id\"");
  if (gpu.memory_usable == quantity::Bytes()) gpu.memory_usable = gpu.memory_nominal;
  if (gpu.memory_usable == quantity::Bytes()) entry.fail("the accelerator needs \"memory\": {\"usable_mib\": ...}");
  if (gpu.memory_nominal == quantity::Bytes()) gpu.memory_nominal = gpu.memory_usable;
  if (gpu.memory_bandwidth == quantity::Bandwidth()) {
    entry.fail("the accelerator needs \"memory\": {\"bandwidth_gb_s\": ...}");
  }
  if (!has_a_peak(gpu.peaks)) entry.fail("the accelerator needs one peak, such as \"peak_tflops\": {\"bf16\": 989.4}");
  if (gpu.gpus_per_node == 0) entry.fail("\"gpus_per_node\" is at least 1");
}

}  // namespace

AcceleratorPreset read_accelerator_entry(const JsonPlace& entry, const AcceleratorPreset* base) {
  AcceleratorPreset preset;
  if (base != nullptr) {
    preset.accelerator = base->accelerator;
    preset.accelerator.id.clear();
    preset.rates = base->rates;
    preset.rates_place = base->rates_place;
  }
  preset.file = entry.file();
  read_fields(preset, entry, fields);
  complete(preset.accelerator, entry);
  return preset;
}

PresetNames names_of(const AcceleratorPreset& preset) {
  return {preset.accelerator.id, {preset.aliases.begin(), preset.aliases.end()}, {}};
}

}  // namespace llmcalc::read
