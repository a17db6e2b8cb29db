#include "read/presets/name_hints.hpp"

#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/presets/spelling.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// The presets that have a name near `name`, each once and by its id, those of the same size first.
std::vector<std::string_view> nearest_presets(const std::vector<KnownPreset>& presets, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& preset : presets) quantity::append(known, preset.names);
  constexpr std::size_t looked_at = 16;
  std::vector<std::string_view> ids;
  for (const auto near : quantity::nearest_names(name, known, looked_at)) {
    const auto owner = std::ranges::find_if(
        presets, [&](const KnownPreset& preset) { return quantity::contains(preset.names, near); });
    if (!quantity::contains(ids, owner->id)) ids.push_back(owner->id);
  }
  const auto lower = quantity::to_lower(name);
  const auto size = size_in(lower);
  if (!size.empty())
    std::stable_partition(ids.begin(), ids.end(), [&](std::string_view id) { return size_in(id) == size; });
  return ids;
}

/// The presets of which `name` says a part: what "llama3" may mean, those of that very version first.
std::vector<std::string_view> presets_of(const std::vector<KnownPreset>& presets, std::string_view name) {
  const auto words = name_words(name);
  std::vector<std::string_view> ids;
  for (const auto& preset : presets) {
    const auto has = [&](std::string_view own) { return has_words(own, words); };
    const bool is_one = std::ranges::any_of(preset.names, has);
    if (is_one && !quantity::contains(ids, preset.id)) ids.push_back(preset.id);
  }
  std::stable_partition(ids.begin(), ids.end(),
                        [&](std::string_view id) { return quantity::contains(name_words(id), words.back()); });
  return ids;
}

/// "which of a, b and c?"
std::string which_of(const std::vector<std::string_view>& ids) {
  constexpr std::size_t most = 12;
  const auto told = std::min(ids.size(), most);
  std::string question = "which of ";
  for (std::size_t i = 0; i < told; ++i) {
    const bool last = i + 1 == told && told == ids.size();
    question.append(i == 0 ? "" : last ? " and " : ", ").append(ids[i]);
  }
  return question + (told < ids.size() ? " and " + std::to_string(ids.size() - told) + " more?" : "?");
}

}  // namespace

std::string hint_for_name(const std::vector<KnownPreset>& presets, std::string_view name) {
  const auto meant = presets_of(presets, name);
  if (meant.size() > 1) return which_of(meant);
  return quantity::one_of(meant.empty() ? nearest_presets(presets, name) : meant);
}

}  // namespace llmcalc::read
