#include "cli/cards.hpp"

#include "cli/system.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;
using read::AcceleratorPreset;
using read::Given;

constexpr std::string_view local = "local";

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
  } catch (const BadInput&) {
    return std::nullopt;
  }
}

/// The accelerator that a card is answered as.
struct Match {
  std::string id;
  std::string unlike;  ///< what is said where no preset has its name
};

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

Match match_of(const Card& card, const read::Catalogue& catalogue) {
  if (const auto found = named(card, catalogue)) {
    return {card.is_shared ? found->accelerator.id : sized(*found, card, catalogue), {}};
  }
  const auto presets = catalogue.accelerators();
  const auto* like = nearest(presets, card, [&](const auto& each) {
    return !card.arch.empty() && each.accelerator.arch.starts_with(card.arch);
  });
  if (like == nullptr) {
    const auto size = card.total ? ", --memory " + gib(*card.total) : std::string();
    throw BadInput("--gpu",
                   "local: the driver calls the card " + quantity::quoted(card.name) + ", which no preset is called",
                   "name the one that it is most like, as --gpu rx-7900-xtx" + size);
  }
  return {like->accelerator.id,
          fmt::format("no preset is called '{}', as the driver calls it: the rates are those of {}, the nearest of its "
                      "generation, the memory is the driver's",
                      card.name, like->accelerator.id)};
}

/// Those that CUDA shows to a program, where that is said by number.
std::vector<Card> visible(std::vector<Card> cards, const char* said) {
  if (said == nullptr) return cards;
  std::vector<Card> shown;
  for (const auto piece : quantity::pieces_of(said, ",")) {
    std::string_view text = quantity::trim(piece);
    const auto at = quantity::take_number<std::size_t>(text);
    if (!at || !text.empty()) return cards;  // by UUID
    if (*at < cards.size()) shown.push_back(cards[*at]);
  }
  return shown;
}

/// How many of them a word asks for: "local" all, "local:2" two.
std::size_t asked_of(std::string_view word, std::size_t all) {
  if (word == local) return all;
  std::string_view text = word.substr(local.size() + 1);
  const auto count = quantity::take_number<std::size_t>(text);
  if (!count || !text.empty() || *count == 0)
    throw BadInput("--gpu", "expected local or local:2, found '" + std::string(word) + "'");
  if (*count > all) throw BadInput("--gpu", fmt::format("{}: this machine has {}", word, all));
  return *count;
}

/// The freest first; a run is as large as the fullest lets it be.
void sort_by_free(std::vector<Card>& cards) {
  std::ranges::stable_sort(cards, std::greater<>(), [](const Card& card) { return card.free.value_or(0); });
}

std::string held(const Card& card) {
  if (!card.total || !card.free || card.holders.empty()) return {};
  std::string processes;
  for (const auto& holder : card.holders) {
    processes += fmt::format("{}{}", processes.empty() ? "" : ", ", holder.process);
    if (holder.bytes > 0) processes += " with " + gib(holder.bytes);
  }
  return fmt::format("; others hold memory of it (process {})", processes);
}

/// Which names are among them, to tell apart what is not alike.
void refuse_mixed(const std::vector<Card>& cards) {
  std::string names;
  for (const Card& card : cards) names += (names.empty() ? "" : ", ") + card.name;
  const auto differs = [&](const Card& card) { return card.name != cards.front().name; };
  if (std::ranges::none_of(cards, differs)) return;
  throw BadInput("--gpu", "local: the cards here are not alike: " + names,
                 "--gpu local:1 takes the freest, CUDA_VISIBLE_DEVICES says which");
}

/// The room for a run on a card. macOS lets graphics take two thirds of up to 36 GiB of memory, of more three quarters
/// (Metal's recommendedMaxWorkingSetSize, which sysctl iogpu.wired_limit_mb raises).
std::optional<std::uint64_t> room_on(const Card& card) {
  constexpr std::uint64_t small = std::uint64_t{36} << 30U;
  if (!card.is_shared || !card.total) return card.free ? card.free : card.total;
  return *card.total <= small ? *card.total / 3 * 2 : *card.total / 4 * 3;
}

std::string state_of(const Card& card) {
  if (card.is_shared) return fmt::format("what graphics may take of {}", gib(card.total.value_or(0)));
  return card.free ? "free now of " + gib(card.total.value_or(0)) : "the driver does not say what is free";
}

}  // namespace

std::vector<Card> local_cards(const std::filesystem::path& root) {
  auto cards = visible(nvidia_cards(), std::getenv("CUDA_VISIBLE_DEVICES"));
  if (cards.empty()) cards = kernel_cards(root);
  if (const auto graphics = processor_graphics(); cards.empty() && graphics) {
    cards.push_back({.name = graphics->name, .arch = {}, .total = graphics->memory, .is_shared = true});
  }
  if (!cards.empty()) return cards;
  throw BadInput("--gpu", "local: no driver of NVIDIA, AMD or Intel tells of a card here",
                 "name the accelerator, as --gpu rtx-4090");
}

void take_local_cards(dialects::Reading& reading, std::vector<Given>& words, const read::Catalogue& catalogue,
                      std::vector<Card> cards) {
  auto* gpu = quantity::find_or_null(words, "gpu", &Given::term);
  sort_by_free(cards);
  cards.resize(asked_of(gpu->text, cards.size()));
  refuse_mixed(cards);
  const Card& fullest = cards.back();
  const Match match = match_of(fullest, catalogue);
  const bool counted = read::has_word(words, "gpus");
  gpu->text = counted ? match.id : fmt::format("{}:{}", match.id, cards.size());
  gpu->origin.where = "--gpu local: " + fullest.name;
  if (!match.unlike.empty()) reading.assumptions.push_back({match.unlike});
  const auto room = room_on(fullest);
  if (!room || read::has_word(words, "memory")) return;
  const auto state = state_of(fullest);
  const auto origin = gpu->origin;
  words.push_back({"memory", fmt::format("{}MiB", *room >> 20U), {origin.source, "--gpu local: " + state}});
  reading.assumptions.push_back(
      {fmt::format("{} x {}: {}, {}{}", cards.size(), fullest.name, gib(*room), state, held(fullest))});
}

}  // namespace llmcalc::cli
