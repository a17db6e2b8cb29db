// The accelerators that a driver tells of, here or in nvidia-smi's output, and the presets that they are answered as.
#pragma once

#include "dialects/reading.hpp"
#include "read/presets.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// A process that holds memory of a card.
struct Holder {
  std::uint32_t process = 0;
  std::uint64_t bytes = 0;  ///< 0: the driver does not say
};

/// A card, or a slice of one where it is cut up.
struct Card {
  std::string name;                         ///< as the driver says it
  std::string arch = {};                    ///< with which the architectures of presets begin; empty: not known
  std::optional<std::uint64_t> total = {};  ///< empty: the driver does not say, as where the memory is the processor's
  std::optional<std::uint64_t> free = {};   ///< now
  bool free_with_reserved = false;          ///< which the driver's own share is still a part of
  std::vector<Holder> holders = {};
  bool is_shared = false;  ///< the memory is the processor's, which leaves graphics a part of it
};

/// The freest first; a run is as large as the fullest lets it be.
void sort_by_free(std::vector<Card>& cards);

/// The names of cards that are not all alike; empty where they are.
std::string mixed_names(const std::vector<Card>& cards);

/// The preset that cards are answered as.
struct CardPreset {
  std::string id = {};      ///< empty: none is like it
  std::string unlike = {};  ///< what is said where no preset has its name
};

/// Whether the driver's memory is that of a preset: drivers keep some to themselves, vendors count in GB.
bool is_as_large(const Card& card, const read::AcceleratorPreset& preset);

CardPreset preset_of(const Card& card, const read::Catalogue& catalogue);

/// The memory that a program finds on the fullest of some cards, and how that is told.
struct CardRoom {
  std::uint64_t bytes = 0;
  std::string state;  ///< "free now of 79 GiB"
  std::string told;   ///< "2 x NVIDIA H100 80GB HBM3: 70 GiB, free now of 79 GiB; others hold memory of it"
};

/// \param cards   alike, the freest first
/// \param preset  of what they are answered as
/// \param when    "now"
/// Empty where the driver says nothing of memory.
std::optional<CardRoom> room_on(const std::vector<Card>& cards, const read::AcceleratorPreset& preset,
                                std::string_view when);

}  // namespace llmcalc::dialects
