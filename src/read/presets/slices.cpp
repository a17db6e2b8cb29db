#include "read/presets/slices.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::read {
namespace {

using quantity::Bytes;
using quantity::bytes;
using quantity::is_digit;

/// NVIDIA Multi-Instance GPU User Guide, "Partitioning": seven slices of the multiprocessors, eight of memory, each
/// with its share of the cache and of the bandwidth.
constexpr std::int64_t compute_slices = 7;
constexpr std::int64_t memory_slices = 8;

/// What an instance keeps for itself: 4.75 of the 4.94 GiB that an eighth of an A100-40 has, 9.75 of 9.87, 19.62
/// of 19.75 (the same, "Supported MIG Profiles").
constexpr Bytes kept_by_instance = quantity::mib(200);

std::optional<std::int64_t> number_before(std::string_view& text, std::string_view unit) {
  constexpr std::size_t most_digits = 3;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > most_digits || !text.substr(digits).starts_with(unit)) return std::nullopt;
  const auto number = std::stoll(std::string(text.substr(0, digits)));
  text.remove_prefix(digits + unit.size());
  return number;
}

/// The eighths of its memory that a slice of this size has; 0 where there is none.
std::int64_t eighths(const spec::Accelerator& whole, const Slice& slice) {
  const double share = static_cast<double>(slice.memory) / quantity::in_gib(whole.memory_nominal) * memory_slices;
  const double count = std::round(share);
  constexpr double rounding = 0.03;  // "12gb" is an eighth of 94, "35gb" two of 141
  const bool is_one = count >= 1 && count <= memory_slices && std::abs(share / count - 1) <= rounding;
  return is_one ? static_cast<std::int64_t>(count) : 0;
}

template <class Rate>
void scale(std::optional<Rate>& rate, double share) {
  if (rate) rate = share * *rate;
}

Bytes share_of(Bytes size, std::int64_t parts) { return bytes(in_bytes(size) / memory_slices * parts); }

void scale_peaks(spec::Accelerator::Peaks& peaks, double share) {
  for (auto* peak : {&peaks.fp64, &peaks.fp64_matrix, &peaks.fp32, &peaks.fp32_matrix, &peaks.tf32, &peaks.fp16,
                     &peaks.bf16, &peaks.fp8, &peaks.int8, &peaks.fp4}) {
    scale(*peak, share);
  }
}

}  // namespace

std::optional<Slice> find_slice(std::string_view name) {
  constexpr std::string_view word = "mig";
  const std::string lower = quantity::to_lower(quantity::trim(name));
  const auto at = lower.rfind(word);
  if (at == std::string::npos) return std::nullopt;
  const auto is_mark = [](char c) { return c == '-' || c == ' ' || c == '_' || c == '/'; };
  std::string_view profile = std::string_view(lower).substr(at + word.size());
  while (!profile.empty() && is_mark(profile.front())) profile.remove_prefix(1);
  Slice slice{{}, std::string(profile), 0, 0};
  const auto compute = number_before(profile, "g.");
  const auto memory = compute ? number_before(profile, "gb") : std::nullopt;
  if (!memory || !profile.empty()) return std::nullopt;
  slice.compute = *compute;
  slice.memory = *memory;
  std::string_view whole = std::string_view(lower).substr(0, at);
  while (!whole.empty() && is_mark(whole.back())) whole.remove_suffix(1);
  slice.whole = whole;
  return slice;
}

spec::Accelerator cut(const spec::Accelerator& whole, const Slice& slice, std::string_view place) {
  const auto parts = eighths(whole, slice);
  if (parts == 0 || slice.compute < 1 || slice.compute > compute_slices) {
    throw quantity::BadInput(std::string(place), whole.id + " has no slice " + slice.profile,
                             "1g to 7g of an eighth of its memory or more: NVIDIA's guide to MIG lists them");
  }
  const double compute = static_cast<double>(slice.compute) / compute_slices;
  const double memory = static_cast<double>(parts) / memory_slices;
  spec::Accelerator gpu = whole;
  gpu.id = whole.id + "-mig-" + slice.profile;
  gpu.name = whole.name + ", slice " + slice.profile;
  gpu.memory_nominal = quantity::gib(slice.memory);
  gpu.memory_usable = share_of(whole.memory_usable, parts) - kept_by_instance;
  gpu.memory_bandwidth = memory * whole.memory_bandwidth;
  scale_peaks(gpu.peaks, compute);
  gpu.interconnect = "none between slices";
  gpu.link.reset();
  gpu.joined = 0;
  gpu.gpus_per_node = 1;
  if (gpu.host_memory) gpu.host_memory = share_of(*gpu.host_memory, parts);
  if (gpu.tdp_watts) gpu.tdp_watts = std::round(compute * *gpu.tdp_watts);
  if (gpu.units) gpu.units = std::max<std::int64_t>(1, std::llround(compute * static_cast<double>(*gpu.units)));
  if (gpu.cache) gpu.cache = share_of(*gpu.cache, parts);
  scale(gpu.price_per_hour, compute);
  return gpu;
}

}  // namespace llmcalc::read
