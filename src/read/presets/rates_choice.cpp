#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/entry.hpp"
#include "read/presets/names.hpp"
#include "read/presets/rates.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// Matrix units that were cut to a share of the rate of their die's other parts, as in GeForce cards.
bool is_below(double limit, const spec::Accelerator::Peaks& peaks) {
  return limit <= 0.0 || (peaks.bf16 && peaks.fp32 && *peaks.bf16 / *peaks.fp32 < limit);
}

/// \param entry  a user's, or one that ships
template <class Entry>
bool stands_for(const Entry& entry, const spec::Accelerator& gpu) {
  return !entry.arch.empty() && gpu.arch.starts_with(entry.arch) && gpu.name.starts_with(entry.name) &&
         is_below(entry.bf16_over_fp32_below, gpu.peaks) && gpu.memory_bandwidth >= entry.bandwidth_from;
}

spec::Rates rates_of(const EmbeddedRates& entry) {
  return {entry.numbers, std::string(entry.id), std::string(entry.measured), std::string(entry.operations)};
}

const RatesPreset* find_user(const std::vector<RatesPreset>& users, std::string_view name) {
  return quantity::find_last_if_or_null(users, [&](const auto& entry) { return same_name(entry.rates.id, name); });
}

const EmbeddedRates* find_embedded(std::string_view name) {
  return quantity::find_if_or_null(embedded_rates(), [&](const auto& entry) { return same_name(entry.id, name); });
}

[[noreturn]] void fail_unknown(const std::vector<RatesPreset>& users, std::string_view name, std::string_view place) {
  auto known = quantity::mapped(users, [](const auto& entry) { return std::string_view(entry.rates.id); });
  quantity::append(known, quantity::mapped(embedded_rates(), [](const auto& entry) { return entry.id; }));
  throw quantity::BadInput(std::string(place), "no rates are called " + quantity::quoted(name),
                           quantity::did_you_mean(name, known));
}

void append_file(std::vector<RatesPreset>& users, const PresetFile& file) {
  const PresetDocument document(file.text, file.path);
  const std::size_t first_of_file = users.size();
  for (const auto& place : document.entries()) {
    const bool derived = place.has("base");
    const auto base_place = derived ? place.member("base") : place;
    const RatesPreset base{
        .rates = named_rates(users, derived ? base_place.string() : std::string(usual_rates), base_place.text())};
    auto entry = read_rates_entry(place, &base);
    const auto same_id = [&](const auto& other) { return same_name(other.rates.id, entry.rates.id); };
    if (std::any_of(users.begin() + static_cast<std::ptrdiff_t>(first_of_file), users.end(), same_id)) {
      place.fail("the id '" + entry.rates.id + "' is taken in the same file");
    }
    users.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<RatesPreset> read_rates(const std::vector<PresetFile>& files) {
  std::vector<RatesPreset> users;
  for (const auto& file : files) append_file(users, file);
  return users;
}

spec::Rates named_rates(const std::vector<RatesPreset>& users, std::string_view name, std::string_view place) {
  if (const auto* user = find_user(users, name)) return user->rates;
  if (const auto* entry = find_embedded(name)) return rates_of(*entry);
  fail_unknown(users, name, place);
}

spec::Rates rates_for(const std::vector<RatesPreset>& users, const spec::Accelerator& gpu) {
  const auto stands = [&](const auto& entry) { return stands_for(entry, gpu); };
  if (const auto* user = quantity::find_last_if_or_null(users, stands)) return user->rates;
  const auto* entry = quantity::find_if_or_null(embedded_rates(), stands);
  return named_rates(users, entry == nullptr ? usual_rates : entry->id, "rates");
}

}  // namespace llmcalc::read
