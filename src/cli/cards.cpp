#include "cli/cards.hpp"

#include "cli/system.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;
using read::Given;

constexpr std::string_view local = "local";

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
  dialects::sort_by_free(cards);
  cards.resize(asked_of(gpu->text, cards.size()));
  if (const auto names = dialects::mixed_names(cards); !names.empty()) {
    throw BadInput("--gpu", "local: the cards here are not alike: " + names,
                   "--gpu local:1 takes the freest, CUDA_VISIBLE_DEVICES says which");
  }
  const Card& fullest = cards.back();
  const auto match = dialects::preset_of(fullest, catalogue);
  if (match.id.empty()) {
    std::string hint = "name the one that it is most like, as --gpu rx-7900-xtx";
    if (fullest.total) {
      hint += ", --memory " + quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(*fullest.total)));
    }
    throw BadInput("--gpu", "local: " + match.unlike, std::move(hint));
  }
  const bool counted = read::has_word(words, "gpus");
  gpu->text = counted ? match.id : fmt::format("{}:{}", match.id, cards.size());
  gpu->origin.where = "--gpu local: " + fullest.name;
  if (!match.unlike.empty()) reading.assumptions.push_back({match.unlike});
  const auto room = dialects::room_on(cards, catalogue.accelerator(match.id, "--gpu"), "now");
  if (!room || read::has_word(words, "memory")) return;
  const auto origin = gpu->origin;
  words.push_back({"memory", fmt::format("{}MiB", room->bytes >> 20U), {origin.source, "--gpu local: " + room->state}});
  reading.assumptions.push_back({room->told});
}

}  // namespace llmcalc::cli
