// `llmcalc gpu` for people.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/accelerator_peaks.hpp"
#include "render/inner/card.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/presets.hpp"

#include <fmt/format.h>

namespace llmcalc::render {
namespace {

using spec::Accelerator;

std::string bandwidth_text(const std::optional<quantity::Bandwidth>& bandwidth) {
  return bandwidth ? quantity::format_bandwidth(*bandwidth) + " one way" : std::string();
}

std::string usable_text(const Accelerator& gpu) {
  return fmt::format("{}{}", quantity::format_gib(gpu.memory_usable), gpu.usable_verified ? "" : ", not verified");
}

std::string price_text(const Accelerator& gpu) {
  if (!gpu.price_per_hour) return {};
  return fmt::format("{} an hour, {}", quantity::format_money(*gpu.price_per_hour), gpu.price_source);
}

std::string verification_text(std::string_view grade) {
  if (grade == "A") return "A, read in several places";
  if (grade == "B") return "B, read in one place";
  return grade == "C" ? "C, inferred" : std::string(grade);
}

void add_memory(Card& card, const Accelerator& gpu) {
  card.add("memory", quantity::format_gib(gpu.memory_nominal) + " " + gpu.memory_type);
  card.add("usable", usable_text(gpu));
  card.add("bandwidth", quantity::format_bandwidth(gpu.memory_bandwidth));
}

void add_peaks(Card& card, const Accelerator& gpu) {
  card.add_heading("dense peaks");
  for (const auto& peak : named_peaks) {
    if (const auto& rate = gpu.peaks.*peak.rate) card.add(peak.name, quantity::format_rate(*rate));
  }
}

void add_links(Card& card, const Accelerator& gpu) {
  card.add_heading("node");
  card.add("interconnect", gpu.interconnect);
  card.add("to peers", bandwidth_text(gpu.link));
  card.add("joins", unless_zero(gpu.joined));
  card.add("to host", bandwidth_text(gpu.pcie));
  card.add("per node", unless_zero(gpu.gpus_per_node));
  if (gpu.host_memory) {
    card.add("host memory", fmt::format("{} each, {}", quantity::format_gib(*gpu.host_memory), gpu.host_memory_source));
  }
  if (gpu.network_gbps) card.add("network", fmt::format("{:g} Gbit/s", *gpu.network_gbps));
  if (gpu.tdp_watts) card.add("power", fmt::format("{:g} W", *gpu.tdp_watts));
  if (gpu.units) card.add("SMs or CUs", std::to_string(*gpu.units));
  if (gpu.cache) card.add("cache", quantity::format_gib(*gpu.cache));
}

std::string share_text(double share, std::string_view of) {
  return share > 0.0 ? fmt::format("{} of {}", quantity::format_percent(share), of) : std::string();
}

/// What speeds rest on; the rest of the entry is in its file.
void add_rates(Card& card, const spec::Rates& rates) {
  if (!rates.known()) return;
  card.add_heading("measured rates");
  card.add("measured on", rates.measured.empty() ? "nothing: as a part of its kind" : rates.measured);
  card.add("products", share_text(rates.products.ceiling, "the dense peak, large ones alone"));
  card.add("attention", share_text(rates.attention.native.share, "the peak, long sequences"));
  card.add("memory", share_text(rates.memory.kernels, "the bandwidth, large kernels"));
  card.add("serving", rates.operations.empty() ? std::string() : "curves of " + rates.operations);
  card.add("entry", rates.id + " of presets/rates");
}

}  // namespace

std::string to_text(const AcceleratorCard& preset) {
  const auto& gpu = preset.accelerator;
  Card card(gpu.id);
  card.add("name", fmt::format("{} ({} {}, {})", gpu.name, gpu.vendor, gpu.arch, gpu.year));
  add_memory(card, gpu);
  card.add("price", price_text(gpu));
  add_peaks(card, gpu);
  add_links(card, gpu);
  add_rates(card, gpu.rates);
  card.add_heading("preset");
  card.add("names", quantity::joined(preset.aliases, ", "));
  card.add("sources", gpu.sources);
  card.add("verification", verification_text(gpu.verification));
  card.add("notes", gpu.notes);
  card.add("file", preset.file);
  return on_screen(card.render());
}

std::string to_text(std::span<const AcceleratorCard> presets) {
  constexpr int digits = 4;
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::left}, "");
  table.add_row({"gpu", "GiB", "GB/s", "bf16 TFLOP/s", "$/h", "kind"});
  const auto unit = memory_unit_for(quantity::gib(1));
  for (const auto& preset : presets) {
    const auto& gpu = preset.accelerator;
    table.add_row(
        {gpu.id, in_unit(gpu.memory_usable, unit),
         quantity::format_number(quantity::in_gigabytes_per_second(gpu.memory_bandwidth), digits),
         gpu.peaks.bf16 ? quantity::format_number(quantity::in_flops_per_second(*gpu.peaks.bf16) / 1e12, digits) : "",
         gpu.price_per_hour ? fmt::format("{:.2f}", quantity::in_dollars(*gpu.price_per_hour)) : "", gpu.arch});
  }
  return on_screen(table.render());
}

}  // namespace llmcalc::render
