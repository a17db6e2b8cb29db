#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::read {
namespace {

using spec::Accelerator;
using Peaks = Accelerator::Peaks;

/// "verified": read in nvidia-smi's or the framework's own output; otherwise "unverified" or "heuristic".
bool is_verified(const JsonPlace& value) {
  constexpr std::string_view evidence[] = {"verified", "unverified", "heuristic"};
  const std::string word = value.string();
  if (!quantity::contains(evidence, word))
    value.fail("unknown word '" + word + "'", quantity::did_you_mean(word, evidence));
  return word == evidence[0];
}

void set_rates(AcceleratorPreset& preset, const JsonPlace& value) {
  preset.rates = read_name(value);
  preset.rates_place = value.text();
}

constexpr auto to_gpu = &AcceleratorPreset::accelerator;

constexpr Field<AcceleratorPreset> fields[] = {
#include "fields/accelerator.inc"
};

bool has_a_peak(const Peaks& p) {
  return p.fp64 || p.fp64_matrix || p.fp32 || p.fp32_matrix || p.tf32 || p.fp16 || p.bf16 || p.fp8 || p.int8 || p.fp4;
}

/// An hour of one that is bought and runs day and night: its part of five years, over which the law writes computers
/// off (IRS publication 946, five-year property), and its rated power at what a household pays (U.S. EIA, Electric
/// Power Monthly of June 2024, residential, April 2024: 16.88 cents a kWh).
void price_hour(Accelerator& gpu, const JsonPlace& entry) {
  constexpr double hours = 5 * 365.25 * 24;
  constexpr double usd_per_kwh = 0.1688;
  if (gpu.price_per_hour || !gpu.bought_for) return;
  if (!gpu.tdp_watts) entry.fail("a price that is paid once needs \"tdp_w\", whose power is paid by the hour");
  const double hourly = quantity::in_dollars(*gpu.bought_for) / hours + *gpu.tdp_watts / 1e3 * usd_per_kwh;
  constexpr double tenths_of_cents = 1000;
  gpu.price_per_hour = quantity::dollars(std::round(hourly * tenths_of_cents) / tenths_of_cents);
  gpu.price_source = fmt::format("of ${:.0f} ({}) over five years, and its power",
                                 quantity::in_dollars(*gpu.bought_for), gpu.price_source);
}

void forget_purchase(Accelerator& gpu) {
  if (!gpu.bought_for) return;
  gpu.bought_for.reset();
  gpu.price_per_hour.reset();
  gpu.price_source.clear();
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
    if (entry.has("price")) forget_purchase(preset.accelerator);
    preset.rates = base->rates;
    preset.rates_place = base->rates_place;
  }
  preset.file = entry.file();
  read_fields(preset, entry, fields);
  complete(preset.accelerator, entry);
  price_hour(preset.accelerator, entry);
  return preset;
}

Glimpse glimpse_of(const spec::Accelerator& gpu) {
  return {gpu.id,
          gpu.vendor,
          gpu.memory_usable,
          spec::has_stacked_memory(gpu),
          gpu.peaks.bf16.has_value(),
          spec::rent_of(gpu)};
}

PresetNames names_of(const AcceleratorPreset& preset) {
  return {preset.accelerator.id, {preset.aliases.begin(), preset.aliases.end()}, {}};
}

namespace {

using quantity::Bytes;
using quantity::bytes;

/// NVIDIA Multi-Instance GPU User Guide, "Partitioning": where there are seven slices of the multiprocessors there are
/// eight of memory, each with its share of the cache and of the bandwidth; "Supported MIG Profiles": else as many.
std::int64_t memory_slices(const spec::Accelerator& whole) {
  constexpr std::int64_t with_one_spare = 7;
  return whole.slices == with_one_spare ? with_one_spare + 1 : whole.slices;
}

/// Memory that an instance keeps for itself: 4.75 of the 4.94 GiB that an eighth of an A100-40 has, 9.75 of 9.87, 19.62
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

/// The number of a card's parts of memory in a slice of this size, 0 where there is none: "12gb" is one of
/// 94, "35gb" two of 141, and "34gb" one of the 268 that a card of 288 offers.
std::int64_t parts_of(const spec::Accelerator& whole, const Slice& slice) {
  constexpr double rounding = 0.03;
  const auto slices = memory_slices(whole);
  for (const auto memory : {whole.memory_nominal, whole.memory_usable}) {
    const double share = static_cast<double>(slice.memory) / quantity::in_gib(memory) * static_cast<double>(slices);
    const double count = std::round(share);
    const bool is_one = count >= 1 && count <= static_cast<double>(slices) && std::abs(share / count - 1) <= rounding;
    if (is_one) return static_cast<std::int64_t>(count);
  }
  return 0;
}

template <class Rate>
void scale(std::optional<Rate>& rate, double share) {
  if (rate) rate = share * *rate;
}

void scale_peaks(spec::Accelerator::Peaks& peaks, double share) {
  for (auto* peak : {&peaks.fp64, &peaks.fp64_matrix, &peaks.fp32, &peaks.fp32_matrix, &peaks.tf32, &peaks.fp16,
                     &peaks.bf16, &peaks.fp8, &peaks.int8, &peaks.fp4}) {
    scale(*peak, share);
  }
}

/// Endings that nvidia-smi writes behind a profile that takes the encoders or the graphics of its card along: "+me",
/// "+gfx".
bool is_extension(std::string_view text) { return text.empty() || text.starts_with('+'); }

}  // namespace

std::optional<Slice> find_slice(std::string_view name) {
  constexpr std::string_view word = "mig";
  const std::string lower = quantity::to_lower(quantity::trim(name));
  constexpr std::string_view marks = "- _/";
  const auto is_mark = [&](char c) { return marks.find(c) != marks.npos; };
  const auto named = lower.rfind(word);
  const bool is_named = named != std::string::npos;
  const auto at = is_named ? named : lower.find_last_of(marks) + 1;  // "a100 3g.40gb"
  std::string_view profile = std::string_view(lower).substr(is_named ? at + word.size() : at);
  while (!profile.empty() && is_mark(profile.front())) profile.remove_prefix(1);
  Slice slice{{}, std::string(profile.substr(0, profile.find('+'))), 0, 0};
  const auto compute = number_before(profile, "g.");
  const auto memory = compute ? number_before(profile, "gb") : std::nullopt;
  if (!memory || !is_extension(profile)) return std::nullopt;
  slice.compute = *compute;
  slice.memory = *memory;
  std::string_view whole = std::string_view(lower).substr(0, at);
  while (!whole.empty() && is_mark(whole.back())) whole.remove_suffix(1);
  if (whole != "nvidia.com") slice.whole = whole;  // "nvidia.com/mig-1g.10gb" is a resource of Kubernetes
  return slice;
}

bool is_slice(std::string_view name) { return find_slice(name).has_value(); }

bool has_slice(const spec::Accelerator& whole, const Slice& slice) {
  return slice.compute >= 1 && slice.compute <= whole.slices && parts_of(whole, slice) > 0;
}

spec::Accelerator cut(const spec::Accelerator& whole, const Slice& slice, std::string_view place) {
  if (!has_slice(whole, slice)) {
    throw quantity::BadInput(std::string(place), whole.id + " has no slice " + slice.profile,
                             whole.slices == 0 ? "MIG does not cut it, says NVIDIA's guide to MIG"
                                               : "NVIDIA's guide to MIG lists its profiles");
  }
  const auto parts = parts_of(whole, slice);
  const auto share_of = [&](Bytes size) { return bytes(in_bytes(size) / memory_slices(whole) * parts); };
  const double compute = static_cast<double>(slice.compute) / static_cast<double>(whole.slices);
  const double memory = static_cast<double>(parts) / static_cast<double>(memory_slices(whole));
  spec::Accelerator gpu = whole;
  gpu.id = whole.id + "-mig-" + slice.profile;
  gpu.name = whole.name + ", slice " + slice.profile;
  gpu.memory_nominal = quantity::gib(slice.memory);
  gpu.memory_usable = share_of(whole.memory_usable) - kept_by_instance;
  gpu.memory_bandwidth = memory * whole.memory_bandwidth;
  scale_peaks(gpu.peaks, compute);
  gpu.interconnect = "none between slices";
  gpu.link.reset();
  gpu.joined = 0;
  gpu.gpus_per_node = 1;
  gpu.slices = 0;
  if (gpu.host_memory) gpu.host_memory = share_of(*gpu.host_memory);
  if (gpu.tdp_watts) gpu.tdp_watts = std::round(compute * *gpu.tdp_watts);
  if (gpu.units) gpu.units = std::max<std::int64_t>(1, std::llround(compute * static_cast<double>(*gpu.units)));
  if (gpu.cache) gpu.cache = share_of(*gpu.cache);
  scale(gpu.price_per_hour, compute);
  return gpu;
}

namespace {

/// A name, or several: `*` is a number, `~` any word. Where `cards` is 0 the number says how many there are, and of
/// TPUs of two cores to a chip how many cores.
struct Row {
  std::string_view pattern;
  std::string_view gpu;
  std::int64_t cards = 0;
  std::int64_t cores = 1;
};

/// Instances that clouds rent, by their own lists.
constexpr Row rows[] = {
#include "vocabulary/instances.inc"
};

bool is_of_word(char c) { return quantity::is_digit(c) || (c >= 'a' && c <= 'z'); }

/// The number in the place of `*`, 1 where the pattern has none; empty where the name is another.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view pattern) {
  constexpr std::string_view wild = "*~";
  if (!name.starts_with(pattern.front()) && wild.find(pattern.front()) == wild.npos) return {};
  const auto at = pattern.find_first_of(wild);
  if (at == std::string_view::npos) return name == pattern ? std::optional<std::int64_t>(1) : std::nullopt;
  const auto before = pattern.substr(0, at);
  const auto after = pattern.substr(at + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  const auto word = name.substr(before.size(), name.size() - before.size() - after.size());
  if (pattern[at] == '~') return std::ranges::all_of(word, is_of_word) ? std::optional<std::int64_t>(1) : std::nullopt;
  auto rest = word;
  const auto number = quantity::take_number<std::int64_t>(rest);
  return rest.empty() && number > 0 ? number : std::nullopt;
}

/// A name without what is left out of it: Azure's "standard_".
std::optional<std::int64_t> number_of(std::string_view name, const Row& row) {
  constexpr std::string_view azure = "standard_";
  const auto pattern = name.starts_with(azure) ? row.pattern : quantity::without_start(row.pattern, azure);
  return number_in(name, pattern);
}

std::optional<Instance> instance_of(std::string_view name) {
  name = quantity::without_start(name, "ml.");  // SageMaker's, of EC2's
  for (const Row& row : rows) {
    const auto number = number_of(name, row);
    if (!number) continue;
    return Instance{row.gpu, row.cards > 0 ? row.cards : std::max<std::int64_t>(1, *number / row.cores)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Instance> find_instance(std::string_view name) {
  const std::string lower = quantity::to_lower(quantity::trim(name));
  constexpr std::string_view blanks = "-_";  // that stand for the spaces of a name that has some
  for (const char blank : blanks.substr(0, lower.find(' ') == lower.npos ? 1 : blanks.size())) {
    std::string joined = lower;
    std::ranges::replace(joined, ' ', blank);
    if (const auto found = instance_of(joined)) return found;
  }
  std::string_view rest = lower;  // "AWS g5.xlarge"
  if (!is_card_word(quantity::take_until(rest, " -")) || rest.empty()) return std::nullopt;
  return find_instance(rest);
}

}  // namespace llmcalc::read
