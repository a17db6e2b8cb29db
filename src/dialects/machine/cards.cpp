#include "dialects/cards.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::dialects {
namespace {

using read::AcceleratorPreset;

std::string gib(std::uint64_t bytes) { return quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(bytes))); }

double nominal(const AcceleratorPreset& preset) {
  return static_cast<double>(quantity::in_bytes(preset.accelerator.memory_nominal));
}

/// How far a preset's memory is from what the driver says, as a share; 0 where it says nothing.
double distance(const AcceleratorPreset& preset, const Card& card) {
  return card.total ? std::abs(nominal(preset) / static_cast<double>(*card.total) - 1.0) : 0.0;
}

/// Drivers keep some to themselves, vendors count in GB.
constexpr double same_size = 0.15;

/// How many letters a preset's name begins with of the driver's, which has the vendor before it.
std::size_t shared_letters(const AcceleratorPreset& preset, const Card& card) {
  const std::string_view name = preset.accelerator.name;
  const auto theirs = quantity::without_start(card.name, preset.accelerator.vendor + " ");
  const auto [end, other] = std::ranges::mismatch(name, theirs);
  return static_cast<std::size_t>(end - name.begin());
}

/// The one that is called most alike of those that are as large, else the one whose size is nearest.
const AcceleratorPreset* nearest(const std::vector<AcceleratorPreset>& presets, const Card& card, auto is_like) {
  const auto rank = [&](const AcceleratorPreset& preset) {
    const double far = distance(preset, card);
    return std::pair(far < same_size ? 0.0 : far, -static_cast<double>(shared_letters(preset, card)));
  };
  const AcceleratorPreset* best = nullptr;
  for (const auto& preset : presets) {
    if (is_like(preset) && (best == nullptr || rank(preset) < rank(*best))) best = &preset;
  }
  return best;
}

std::optional<AcceleratorPreset> named(const Card& card, const read::Catalogue& catalogue) {
  try {
    return catalogue.accelerator(card.name, "--gpu");
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

/// The preset of its name; of several sizes under one name ("Orin") that of its memory.
std::string sized(const AcceleratorPreset& found, const Card& card, const read::Catalogue& catalogue) {
  const auto& id = found.accelerator.id;
  if (distance(found, card) < same_size || id.find("-mig-") != std::string::npos) return id;
  const auto series = id.substr(0, id.rfind('-') + 1);
  const auto presets = catalogue.accelerators();
  const auto* other = nearest(presets, card, [&](const auto& each) {
    return !series.empty() && each.accelerator.id.starts_with(series) &&
           each.accelerator.arch == found.accelerator.arch;
  });
  return other != nullptr && distance(*other, card) < same_size ? other->accelerator.id : id;
}

/// Drivers before 525 cut a name off in their table: "Tesla V100-SXM2...".
CardPreset begun(const Card& card, const read::Catalogue& catalogue) {
  auto presets = catalogue.accelerators_beginning(quantity::trim(quantity::without_end(card.name, "...")));
  std::erase_if(presets, [&](const auto& each) { return distance(each, card) >= same_size; });
  const auto id = [](const AcceleratorPreset& each) { return each.accelerator.id; };
  if (presets.size() == 1) return {presets.front().accelerator.id, {}};
  const auto ids = quantity::joined(presets, ", ", id);
  return {{},
          fmt::format("{} is the beginning of a name{}", quantity::quoted(card.name),
                      ids.empty() ? std::string(" that no preset of its size has") : ", which may be " + ids)};
}

std::string held(const Card& card) {
  if (!card.total || !card.free || card.holders.empty()) return {};
  const auto process = [](const auto& holder) {
    return std::to_string(holder.process) + (holder.bytes > 0 ? " with " + gib(holder.bytes) : "");
  };
  return fmt::format("; others hold memory of it (process {})", quantity::joined(card.holders, ", ", process));
}

/// Memory that is neither used nor the driver's own, of which a preset knows where a table says used and total alone.
std::optional<std::uint64_t> free_of(const Card& card, const AcceleratorPreset& preset) {
  if (!card.free || !card.free_with_reserved) return card.free;
  const auto used = *card.total - std::min(*card.free, *card.total);
  const auto usable = static_cast<std::uint64_t>(quantity::in_bytes(preset.accelerator.memory_usable));
  return std::min(*card.free, usable - std::min(used, usable));
}

/// The room for a run on a card. macOS lets graphics take two thirds of up to 36 GiB of memory, of more three quarters
/// (Metal's recommendedMaxWorkingSetSize, which sysctl iogpu.wired_limit_mb raises).
std::optional<std::uint64_t> shared_room(const Card& card) {
  constexpr std::uint64_t small = std::uint64_t{36} << 30U;
  if (!card.total) return card.free;
  return *card.total <= small ? *card.total / 3 * 2 : *card.total / 4 * 3;
}

}  // namespace

void sort_by_free(std::vector<Card>& cards) {
  std::ranges::stable_sort(cards, std::greater<>(), [](const Card& card) { return card.free.value_or(0); });
}

std::string mixed_names(const std::vector<Card>& cards) {
  constexpr std::size_t most = 8;  // of a machine; more are no machine's
  std::vector<std::string_view> names;
  for (const Card& card : cards) {
    if (names.size() < most && !quantity::contains(names, card.name)) names.push_back(card.name);
  }
  return names.size() < 2 ? std::string() : quantity::joined(names, ", ");
}

bool is_as_large(const Card& card, const AcceleratorPreset& preset) { return distance(preset, card) < same_size; }

CardPreset preset_of(const Card& card, const read::Catalogue& catalogue) {
  if (card.name.ends_with("...")) return begun(card, catalogue);
  if (const auto found = named(card, catalogue)) {
    return {card.is_shared ? found->accelerator.id : sized(*found, card, catalogue), {}};
  }
  const auto presets = catalogue.accelerators();
  const auto* like = nearest(presets, card, [&](const auto& each) {
    return !card.arch.empty() && each.accelerator.arch.starts_with(card.arch);
  });
  if (like == nullptr) {
    return {{}, "the driver calls the card " + quantity::quoted(card.name) + ", which no preset is called"};
  }
  return {like->accelerator.id,
          fmt::format("no preset is called '{}', as the driver calls it: the rates are those of {}, the nearest of its "
                      "generation, the memory is the driver's",
                      card.name, like->accelerator.id)};
}

std::optional<CardRoom> room_on(const std::vector<Card>& cards, const AcceleratorPreset& preset,
                                std::string_view when) {
  const Card& fullest = cards.back();
  const auto free = free_of(fullest, preset);
  const auto room = fullest.is_shared ? shared_room(fullest) : free ? free : fullest.total;
  if (!room) return std::nullopt;
  const auto total = gib(fullest.total.value_or(0));
  const auto state = fullest.is_shared ? fmt::format("what graphics may take of {}", total)
                     : free            ? fmt::format("free {} of {}", when, total)
                                       : std::string("the driver does not say what is free");
  return CardRoom{*room, state,
                  fmt::format("{} x {}: {}, {}{}", cards.size(), fullest.name, gib(*room), state, held(fullest))};
}

}  // namespace llmcalc::dialects
