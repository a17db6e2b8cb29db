// `llmcalc gpu` for programs; docs/json.md says what each key means.
#include "render/inner/accelerator_peaks.hpp"
#include "render/inner/json_list.hpp"
#include "render/presets.hpp"

namespace llmcalc::render {
namespace {

Json peaks(const spec::Accelerator::Peaks& peaks) {
  Json object;
  for (const auto& peak : named_peaks) {
    const auto& rate = peaks.*peak.rate;
    object[std::string(peak.name)] = rate ? finite(in_flops_per_second(*rate)) : Json();
  }
  return object;
}

Json bandwidth(const std::optional<quantity::Bandwidth>& rate) {
  return rate ? finite(in_bytes_per_second(*rate)) : Json();
}

void add_memory(Json& object, const spec::Accelerator& gpu) {
  object["memory_nominal_bytes"] = in_bytes(gpu.memory_nominal);
  object["memory_usable_bytes"] = in_bytes(gpu.memory_usable);
  object["memory_usable_verified"] = gpu.usable_verified;
  object["memory_type"] = text_or_null(gpu.memory_type);
  object["memory_bandwidth_bytes_per_second"] = finite(in_bytes_per_second(gpu.memory_bandwidth));
}

void add_node(Json& object, const spec::Accelerator& gpu) {
  object["interconnect"] = text_or_null(gpu.interconnect);
  object["link_bytes_per_second"] = bandwidth(gpu.link);
  object["pcie_bytes_per_second"] = bandwidth(gpu.pcie);
  object["link_joins"] = gpu.joined > 0 ? Json(gpu.joined) : Json();
  object["gpus_per_node"] = gpu.gpus_per_node;
  object["host_memory_bytes"] = gpu.host_memory ? Json(in_bytes(*gpu.host_memory)) : Json();
  object["network_gigabits_per_second"] = finite_or_null(gpu.network_gbps);
  object["tdp_watts"] = finite_or_null(gpu.tdp_watts);
  object["units"] = gpu.units ? Json(*gpu.units) : Json();
  object["cache_bytes"] = gpu.cache ? Json(in_bytes(*gpu.cache)) : Json();
}

Json share(double share) { return share > 0.0 ? finite(share) : Json(); }

Json rates(const spec::Rates& rates) {
  return {{"id", text_or_null(rates.id)},
          {"measured", text_or_null(rates.measured)},
          {"products_share_of_peak", share(rates.products.ceiling)},
          {"attention_share_of_peak", share(rates.attention.native.share)},
          {"memory_share_of_bandwidth", share(rates.memory.kernels)},
          {"operations", text_or_null(rates.operations)}};
}

Json accelerator_entry(const AcceleratorCard& card) {
  const auto& gpu = card.accelerator;
  Json object = {{"id", gpu.id},
                 {"aliases", card.aliases},
                 {"name", gpu.name},
                 {"vendor", text_or_null(gpu.vendor)},
                 {"arch", text_or_null(gpu.arch)},
                 {"year", gpu.year}};
  add_memory(object, gpu);
  object["peaks_flops_per_second"] = peaks(gpu.peaks);
  add_node(object, gpu);
  object["rates"] = rates(gpu.rates);
  object["price_usd_per_hour"] = gpu.price_per_hour ? finite(in_dollars(*gpu.price_per_hour)) : Json();
  object["price_source"] = text_or_null(gpu.price_source);
  object["sources"] = text_or_null(gpu.sources);
  object["verification"] = text_or_null(gpu.verification);
  object["notes"] = text_or_null(gpu.notes);
  object["file"] = text_or_null(card.file);
  return object;
}

}  // namespace

std::string to_json(const AcceleratorCard& card, std::string_view version) {
  Json object = json_answer("gpu", version);
  object["gpu"] = accelerator_entry(card);
  return dump(object);
}

std::string to_json(std::span<const AcceleratorCard> cards, std::string_view version) {
  Json object = json_answer("gpu_list", version);
  object["gpus"] = json_list(cards, accelerator_entry);
  return dump(object);
}

}  // namespace llmcalc::render
