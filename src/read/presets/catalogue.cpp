#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace llmcalc::read {
namespace {

PresetNames names_of(const EmbeddedPreset& entry) { return {entry.id, split_aliases(entry.aliases), entry.hf_id}; }
using read::names_of;

std::vector<std::string> spelled_names(const PresetNames& preset, std::string (*spelling)(std::string_view)) {
  std::vector<std::string_view> names;
  preset.append_to(names);
  return quantity::mapped(names, spelling);
}

/// A way to spell names, and the names of every preset that ships in it.
struct Spelling {
  std::string (*of)(std::string_view);
  const std::vector<std::vector<std::string>>& (*embedded)();
};

/// The names are spelled when somebody asks for one that nothing has: a file of rows may do so a thousand times.
template <auto embedded, auto spelling>
const std::vector<std::vector<std::string>>& spelled() {
  static const auto names = quantity::mapped(
      embedded(), [](const EmbeddedPreset& entry) { return spelled_names(names_of(entry), spelling); });
  return names;
}

template <auto embedded, auto... spellings>
constexpr std::array<Spelling, sizeof...(spellings)> spellings_of{{{spellings, spelled<embedded, spellings>}...}};

/// Differences between the two catalogues.
template <class Preset>
struct Kind;

template <>
struct Kind<ModelPreset> {
  static constexpr std::string_view name = "model";
  static constexpr auto embedded = embedded_models;
  static ModelPreset read(const JsonPlace& entry, const ModelPreset* base, const std::vector<PresetFile>& families) {
    return read_model_entry(entry, base, families);
  }
  static constexpr auto spellings = spellings_of<embedded_models, plain_spelling, model_spelling, spelling_with_maker>;
  static bool agrees(const ModelPreset&, std::string_view) { return true; }
};

template <>
struct Kind<AcceleratorPreset> {
  static constexpr std::string_view name = "gpu";
  static constexpr auto embedded = embedded_accelerators;
  static AcceleratorPreset read(const JsonPlace& entry, const AcceleratorPreset* base, const std::vector<PresetFile>&) {
    return read_accelerator_entry(entry, base);
  }
  static constexpr auto spellings = spellings_of<embedded_accelerators, card_spelling, card_with_bare_capacity,
                                                 card_without_series, card_without_capacity>;
  /// A capacity that is a part of a known name is right; only one that was left out to find it has to be compared.
  static bool agrees(const AcceleratorPreset& preset, std::string_view wanted) {
    const auto is_whole = [&](const std::string& alias) { return card_spelling(alias) == card_spelling(wanted); };
    if (std::ranges::any_of(preset.aliases, is_whole)) return true;
    const auto capacity = capacity_in(wanted);
    return capacity == 0 || quantity::gib(capacity) == preset.accelerator.memory_nominal;
  }
};

/// Presets that ship are read by the families that ship, each once: one question may ask for a preset several times,
/// and many questions for the same.
/// \param entry  one of those that the kind's list of them holds
template <class Preset>
const Preset& embedded_preset(const EmbeddedPreset& entry) {
  struct Read {
    std::once_flag once;
    std::unique_ptr<const Preset> preset;  // of hundreds a question asks for one
  };
  const auto entries = Kind<Preset>::embedded();
  static std::vector<Read> presets(entries.size());
  Read& read = presets[static_cast<std::size_t>(&entry - entries.data())];
  std::call_once(read.once, [&] {
    const auto value = nlohmann::json::parse(entry.json);
    read.preset = std::make_unique<Preset>(Kind<Preset>::read({value, entry.file}, nullptr, {}));
  });
  return *read.preset;
}

KnownPreset known(const PresetNames& names) {
  KnownPreset preset{names.id, {}};
  names.append_to(preset.names);
  return preset;
}

template <class Preset>
std::vector<KnownPreset> all_named(const std::vector<Preset>& users) {
  auto presets = quantity::mapped(users, [](const Preset& preset) { return known(names_of(preset)); });
  quantity::append(presets,
                   quantity::mapped(Kind<Preset>::embedded(), [](const auto& e) { return known(names_of(e)); }));
  return presets;
}

std::optional<AcceleratorPreset> of_another_capacity(const std::vector<AcceleratorPreset>& users,
                                                     std::string_view name);

/// A word to somebody who named a card with an amount of memory that it does not have: "m4 max 36gb".
std::string hint_for_capacity(const std::vector<AcceleratorPreset>& users, std::string_view name) {
  const auto preset = of_another_capacity(users, name);
  if (!preset) return {};
  const auto& id = preset->accelerator.id;
  return id + " is known with " + quantity::format_gib(preset->accelerator.memory_nominal) + "; --gpu " + id +
         " --memory " + std::to_string(capacity_in(name)) + "GiB for another";
}

std::string hint_for_capacity(const std::vector<ModelPreset>& /*users*/, std::string_view /*name*/) { return {}; }

template <class Preset>
[[noreturn]] void fail_unknown(const std::vector<Preset>& users, std::string_view name, std::string_view place) {
  const std::string kind(Kind<Preset>::name);
  std::string hint = kind == "gpu" ? hint_for_card(name) : hint_for_model(name);
  if (hint.empty()) hint = hint_for_capacity(users, name);
  if (hint.empty()) hint = hint_for_name(all_named(users), name);
  if (kind == "model" && size_in(quantity::to_lower(name)) == quantity::to_lower(name)) {
    hint += " Or --params " + std::string(name) + ", of any model of that size";
  }
  if (hint.empty()) hint = "`llmcalc " + kind + " list` shows all of them";
  throw quantity::BadInput(std::string(place), "no " + kind + " is called " + quantity::quoted(name), hint);
}

template <class Preset>
const Preset* find_user(const std::vector<Preset>& users, std::string_view name) {
  return quantity::find_last_if_or_null(users, [&](const Preset& preset) { return names_of(preset).contains(name); });
}

/// An embedded preset, or what the user put in its place, whichever of its names was asked for.
template <class Preset>
Preset overridden(const std::vector<Preset>& users, const EmbeddedPreset& entry) {
  const Preset* user = find_user(users, entry.id);
  return user != nullptr ? *user : embedded_preset<Preset>(entry);
}

/// The preset of which `name` is another spelling, if it is of one alone.
template <class Preset>
std::optional<Preset> find_spelled(const std::vector<Preset>& users, std::string_view name) {
  for (const Spelling& spelling : Kind<Preset>::spellings) {
    const std::string wanted = spelling.of(name);
    if (wanted.empty()) continue;
    const auto is_it = [&](const Preset& preset) {
      return quantity::contains(spelled_names(names_of(preset), spelling.of), wanted);
    };
    const auto* user = quantity::find_last_if_or_null(users, is_it);
    if (user != nullptr && Kind<Preset>::agrees(*user, name)) return *user;
    const EmbeddedPreset* meant = nullptr;
    auto names = spelling.embedded().begin();
    for (const auto& entry : Kind<Preset>::embedded()) {
      if (!quantity::contains(*names++, wanted)) continue;
      if (meant != nullptr) return std::nullopt;
      meant = &entry;
    }
    if (meant == nullptr) continue;
    auto preset = overridden(users, *meant);
    if (Kind<Preset>::agrees(preset, name)) return preset;
  }
  return std::nullopt;
}

template <class Preset>
std::optional<Preset> find(const std::vector<Preset>& users, std::string_view name) {
  if (const Preset* user = find_user(users, name)) return *user;
  const auto known = Kind<Preset>::embedded();
  const auto* entry = quantity::find_if_or_null(known, [&](const auto& each) { return same_name(each.id, name); });
  if (entry == nullptr)
    entry = quantity::find_if_or_null(known, [&](const auto& each) { return names_of(each).contains(name); });
  return entry != nullptr ? overridden(users, *entry) : find_spelled(users, name);
}

std::optional<AcceleratorPreset> of_another_capacity(const std::vector<AcceleratorPreset>& users,
                                                     std::string_view name) {
  if (capacity_in(name) == 0) return std::nullopt;
  return find(users, quantity::trim(name.substr(0, name.find_last_of(" -_"))));
}

template <class Preset>
Preset find(const std::vector<Preset>& users, std::string_view name, std::string_view place) {
  if (auto preset = find(users, name)) return *std::move(preset);
  fail_unknown(users, name, place);
}

/// \throws quantity::BadInput when an entry of the same file, the presets from `first_of_file` on, has one of the names
template <class Preset>
void refuse_taken_names(const std::vector<Preset>& users, std::size_t first_of_file, const Preset& preset,
                        const JsonPlace& entry) {
  std::vector<std::string_view> names;
  names_of(preset).append_to(names);
  for (std::size_t i = first_of_file; i < users.size(); ++i) {
    for (const auto name : names) {
      if (!names_of(users[i]).contains(name)) continue;
      entry.fail("the name '" + std::string(name) + "' is taken by '" + std::string(names_of(users[i]).id) +
                 "' in the same file");
    }
  }
}

template <class Preset>
void append_file(std::vector<Preset>& users, const PresetFile& file, const std::vector<PresetFile>& families = {}) {
  const PresetDocument document(file.text, file.path);
  const std::size_t first_of_file = users.size();
  for (const auto& entry : document.entries()) {
    std::optional<Preset> base;
    if (entry.has("base")) {
      const JsonPlace base_name = entry.member("base");
      base = find(users, base_name.string(), base_name.text());
    }
    Preset preset = Kind<Preset>::read(entry, base ? &*base : nullptr, families);
    refuse_taken_names(users, first_of_file, preset, entry);
    users.push_back(std::move(preset));
  }
}

/// Embedded presets in their order, those that the user overrides replaced, then what the user adds.
template <class Preset>
std::vector<Preset> all(const std::vector<Preset>& users) {
  std::vector<Preset> presets;
  for (const auto& entry : Kind<Preset>::embedded()) presets.push_back(overridden(users, entry));
  for (const auto& preset : users) {
    const auto same_id = [&](const Preset& other) { return same_name(names_of(other).id, names_of(preset).id); };
    if (std::ranges::none_of(presets, same_id)) presets.push_back(*find_user(users, names_of(preset).id));
  }
  return presets;
}

}  // namespace

bool ModelPreset::is_called(std::string_view name) const { return names_of(*this).contains(name); }

std::optional<NamedModel> ModelPreset::spelled(std::string_view name) const {
  const NamedModel own{id, hf_id.empty() ? id : hf_id};
  if (is_spelled_alike(id, name) || is_spelled_alike(hf_id, name)) return own;
  NamedModel model = own;
  for (const auto& alias : aliases) {
    if (is_repository(alias)) model = {quantity::to_lower(without_organisation(alias)), alias};
    if (is_spelled_alike(alias, name)) return model;
  }
  return std::nullopt;
}

NamedModel ModelPreset::named(std::string_view name) const {
  const bool is_tag = name.find(':') != std::string_view::npos;  // of a library that is not the Hub
  const NamedModel unknown{std::string(name), is_tag && !hf_id.empty() ? hf_id : is_tag ? id : std::string(name)};
  return spelled(name).value_or(unknown);
}

std::string_view ModelPreset::repository_within(std::string_view name) const {
  const std::string spelled = plain_spelling(name);
  std::vector<std::string_view> repositories{hf_id};
  std::ranges::copy_if(aliases, std::back_inserter(repositories), is_repository);
  const auto held = [&](std::string_view repository) {
    const auto own = plain_spelling(without_organisation(repository));
    return spelled.find(own) == std::string::npos ? 0 : own.size();
  };
  return *std::ranges::max_element(repositories, {}, held);
}

void ModelPreset::be_named(std::string_view name) {
  const auto own = spelled(name);
  const std::string_view repository = own ? own->repository : repository_within(without_organisation(name));
  const auto is_it = [&](const auto& each) { return each.first == repository; };
  if (const auto* other = quantity::find_if_or_null(max_position_of, is_it)) shape.max_position = other->second;
  if (const auto* other = quantity::find_if_or_null(quant_of, is_it)) weights = other->second;
}

Catalogue::Catalogue(const std::vector<PresetFile>& model_files, const std::vector<PresetFile>& accelerator_files,
                     std::vector<PresetFile> family_files, const std::vector<PresetFile>& rates_files)
    : user_families_(std::move(family_files)), user_rates_(read_rates(rates_files)) {
  for (const auto& file : model_files) append_file(user_models_, file, user_families_);
  for (const auto& file : accelerator_files) append_file(user_accelerators_, file);
  for (const auto& preset : user_accelerators_) {
    if (!preset.rates.empty()) named_rates(user_rates_, preset.rates, preset.rates_place);
  }
}

ModelPreset Catalogue::model(std::string_view name, std::string_view place) const {
  ModelPreset preset = find(user_models_, name, place);
  preset.be_named(name);
  return preset;
}

std::optional<ModelPreset> Catalogue::find_model(std::string_view name) const {
  auto preset = find(user_models_, name);
  if (preset) preset->be_named(name);
  return preset;
}

AcceleratorPreset Catalogue::rated(AcceleratorPreset preset) const {
  preset.accelerator.generation = generation_for(preset.accelerator);
  preset.accelerator.rates = preset.rates.empty() ? rates_for(user_rates_, preset.accelerator)
                                                  : named_rates(user_rates_, preset.rates, preset.rates_place);
  return preset;
}

namespace {

/// Tells somebody who named a slice alone of which accelerators it may be one.
[[noreturn]] void fail_whole(const std::vector<AcceleratorPreset>& all, const Slice& slice, std::string_view place) {
  std::vector<std::string_view> wholes;
  for (const auto& preset : all) {
    if (has_slice(preset.accelerator, slice)) wholes.push_back(preset.accelerator.id);
  }
  if (wholes.empty()) throw quantity::BadInput(std::string(place), "no accelerator has a slice " + slice.profile);
  throw quantity::BadInput(
      std::string(place), quantity::quoted(slice.profile) + " does not say of what it is a slice",
      "as " + std::string(wholes.front()) + "-mig-" + slice.profile + ", of " + quantity::joined(wholes, ", "));
}

/// Share of a machine's memory that programs of its chip have of at most so much (Metal, recommendedMaxWorkingSetSize).
constexpr double share_of_small = 2.0 / 3.0;
constexpr std::int64_t small_gib = 36;

/// A chip that has one memory with its machine, in one with another amount of it.
void resize(spec::Accelerator& gpu, std::int64_t capacity) {
  const double known = quantity::in_gib(gpu.memory_usable) / quantity::in_gib(gpu.memory_nominal);
  const double share = capacity > small_gib ? known : std::min(known, share_of_small);
  gpu.id += "-" + std::to_string(capacity) + "gb";
  gpu.memory_nominal = quantity::gib(capacity);
  gpu.memory_usable =
      quantity::bytes(std::llround(share * static_cast<double>(quantity::in_bytes(gpu.memory_nominal))));
}

}  // namespace

AcceleratorPreset Catalogue::accelerator(std::string_view name, std::string_view place) const {
  const auto slice = find_slice(name);
  if (!slice) {
    if (auto known = find(user_accelerators_, name)) return rated(*std::move(known));
    const auto other = of_another_capacity(user_accelerators_, name);
    if (!other || other->accelerator.host_memory != quantity::Bytes()) {
      return rated(find(user_accelerators_, name, place));
    }
    auto preset = rated(*other);
    resize(preset.accelerator, capacity_in(name));
    return preset;
  }
  if (slice->whole.empty()) fail_whole(accelerators(), *slice, place);
  auto preset = rated(find(user_accelerators_, slice->whole, place));
  preset.accelerator = cut(preset.accelerator, *slice, place);
  return preset;
}

void Catalogue::add_rates(spec::Accelerator& gpu) const {
  gpu.generation = generation_for(gpu);
  if (!gpu.rates.known()) gpu.rates = rates_for(user_rates_, gpu);
}

std::vector<ModelPreset> Catalogue::models() const { return all(user_models_); }

std::vector<AcceleratorPreset> Catalogue::rated(std::vector<AcceleratorPreset> presets) const {
  for (auto& preset : presets) preset = rated(std::move(preset));
  return presets;
}

std::vector<AcceleratorPreset> Catalogue::accelerators() const { return rated(all(user_accelerators_)); }

std::vector<AcceleratorPreset> Catalogue::accelerators_beginning(std::string_view name) const {
  const auto beginning = card_spelling(name);
  auto found = all(user_accelerators_);
  std::erase_if(found, [&](const AcceleratorPreset& preset) {
    const auto begins = [&](std::string_view known) { return card_spelling(known).starts_with(beginning); };
    return std::ranges::none_of(preset.aliases, begins) && !begins(preset.accelerator.id);
  });
  return rated(std::move(found));
}

std::vector<Glimpse> Catalogue::larger(std::string_view vendor, quantity::Bytes above) const {
  std::vector<Glimpse> found;
  const auto take = [&](const Glimpse& one) {
    if (one.vendor == vendor && one.memory > above) found.push_back(one);
  };
  for (const auto& entry : embedded_accelerators()) {
    if (find_user(user_accelerators_, entry.id) == nullptr) take(entry.glimpse);
  }
  for (const auto& preset : user_accelerators_) {
    const bool is_last = find_user(user_accelerators_, preset.accelerator.id) == &preset;
    if (is_last) take(glimpse_of(preset.accelerator));
  }
  std::ranges::stable_sort(found, {}, [](const Glimpse& one) { return std::pair(one.memory, !one.stacked); });
  return found;
}

}  // namespace llmcalc::read
