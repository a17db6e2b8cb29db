#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/names.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// Matrix units that were cut to a share of the rate of their die's other parts, as in GeForce cards.
bool is_below(double limit, const spec::Accelerator::Peaks& peaks) {
  return limit <= 0.0 || (peaks.bf16 && peaks.fp32 && *peaks.bf16 / *peaks.fp32 < limit);
}

/// \param entry  a user's, or one that ships
/// \param arch  of the accelerator, or of the generation that stands for its own
template <class Entry>
bool stands_for(const Entry& entry, const spec::Accelerator& gpu, std::string_view arch) {
  return !entry.arch.empty() && arch.starts_with(entry.arch) && gpu.name.starts_with(entry.name) &&
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

/// A type of memory that nobody said is any.
bool has_memory(const EmbeddedGeneration& row, const spec::Accelerator& gpu) {
  return gpu.memory_type.empty() || gpu.memory_type.starts_with(row.memory);
}

bool is_of(const EmbeddedGeneration& row, const spec::Accelerator& gpu) {
  return gpu.vendor == row.vendor && gpu.arch.starts_with(row.arch);
}

/// That on its kind of memory before others; null where its generation is not known.
const EmbeddedGeneration* own_generation(const spec::Accelerator& gpu) {
  const auto with_memory = [&](const auto& row) { return is_of(row, gpu) && has_memory(row, gpu); };
  const auto* own = quantity::find_if_or_null(embedded_generations(), with_memory);
  if (own != nullptr) return own;
  return quantity::find_if_or_null(embedded_generations(), [&](const auto& row) { return is_of(row, gpu); });
}

/// Whether it is the part that was measured: its sheet says the same of power and peak.
bool is_measured_part(const spec::PowerRates& measured, const spec::Accelerator& gpu) {
  return gpu.tdp_watts == measured.watts && gpu.peaks.bf16 == measured.peak;
}

/// Shares above 1 are the measured part's own clock, which goes beyond the one that its sheet states a peak at (GeForce
/// cards: RTX 5090 254 of 209.5 TFLOP/s). How far another part's clock goes beyond its own sheet is known where its
/// best product was measured; a laptop's is below it. Of those that nobody measured no product takes less than the peak
/// allows. What attention takes over products stays.
void hold_to_peak(spec::MeasuredRates& rates, double most) {
  auto& products = rates.products;
  const double before = products.ceiling;
  for (double* share : {&products.tile, &products.ceiling, &products.best_tile}) *share = std::min(*share, most);
  products.narrow = std::min(products.narrow, most / products.ceiling);
  const double kept = products.ceiling / before;
  for (auto* kernel : {&rates.attention.native, &rates.attention.flash_2}) kernel->share *= kept;
}

bool is_older(const EmbeddedGeneration& a, const EmbeddedGeneration& b) { return a.facts.year < b.facts.year; }

/// \param suits  whether a generation may stand for another
template <class Suits>
const EmbeddedGeneration* nearest_of(std::int64_t year, const Suits& suits) {
  const EmbeddedGeneration* nearest = nullptr;
  for (const EmbeddedGeneration& row : embedded_generations()) {
    if (!suits(row)) continue;
    const bool fits = row.facts.year <= year;
    const bool fitted = nearest != nullptr && nearest->facts.year <= year;
    const bool closer = nearest != nullptr && (fits ? is_older(*nearest, row) : is_older(row, *nearest));
    if (nearest == nullptr || (fits && !fitted) || (fits == fitted && closer)) nearest = &row;
  }
  return nearest;
}

/// \param may  what else it needs
template <class May>
const EmbeddedGeneration* nearest_generation(const spec::Accelerator& gpu, std::int64_t year, const May& may) {
  const auto same_memory = [&](const auto& row) { return may(row) && has_memory(row, gpu); };
  const auto same_make = [&](const auto& row) { return same_memory(row) && row.vendor == gpu.vendor; };
  const EmbeddedGeneration* nearest = nearest_of(year, same_make);
  if (nearest == nullptr) nearest = nearest_of(year, same_memory);
  return nearest != nullptr ? nearest : nearest_of(year, may);
}

}  // namespace

spec::Generation generation_for(const spec::Accelerator& gpu) {
  const auto any = [](const EmbeddedGeneration&) { return true; };
  const auto has_ggml = [](const EmbeddedGeneration& row) { return row.facts.ggml.known(); };
  const auto* own = own_generation(gpu);
  const auto* row = own != nullptr ? own : nearest_generation(gpu, gpu.year, any);
  const std::int64_t year = own != nullptr ? own->facts.year : gpu.year;
  const auto* ggml = has_ggml(*row) ? row : nearest_generation(gpu, year, has_ggml);
  spec::Generation generation{row->facts, row->id, ggml->ggml_of, row->arch, own == nullptr, ggml != own};
  generation.ggml = ggml->facts.ggml;
  return generation;
}

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
  const auto stands = [&](const auto& entry) { return stands_for(entry, gpu, gpu.arch); };
  const auto nearest = [&](const auto& entry) { return stands_for(entry, gpu, gpu.generation.arch); };
  if (const auto* user = quantity::find_last_if_or_null(users, stands)) return user->rates;
  const auto* entry = quantity::find_if_or_null(embedded_rates(), stands);
  if (entry == nullptr && gpu.generation.is_nearest) entry = quantity::find_if_or_null(embedded_rates(), nearest);
  spec::Rates rates = named_rates(users, entry == nullptr ? usual_rates : entry->id, "rates");
  const auto usual = named_rates(users, usual_rates, "rates").measured;  // of parts that nobody has measured, too
  rates.stands_in = gpu.generation.is_nearest || rates.measured == usual;
  if (!is_measured_part(rates.power, gpu)) hold_to_peak(rates, std::max(1.0, gpu.matmul_ceiling.value_or(1.0)));
  return rates;
}

}  // namespace llmcalc::read
