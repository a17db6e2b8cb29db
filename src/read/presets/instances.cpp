#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace llmcalc::read {
namespace {

/// A name, or several: `*` is a number, `~` any word. Where `cards` is 0 the number says how many there are, and of
/// TPUs of two cores to a chip how many cores.
struct Row {
  std::string_view pattern;
  std::string_view gpu;
  std::int64_t cards = 0;
  std::int64_t cores = 1;
};

/// What clouds rent, by their own lists.
constexpr Row rows[] = {
#include "vocabulary/instances.inc"
};

bool is_of_word(char c) { return quantity::is_digit(c) || (c >= 'a' && c <= 'z'); }

/// The number in the place of `*`, 1 where the pattern has none; empty where the name is another.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view pattern) {
  constexpr std::string_view wild = "*~";
  const auto at = pattern.find_first_of(wild);
  if (at == std::string_view::npos) return name == pattern ? std::optional<std::int64_t>(1) : std::nullopt;
  const auto before = pattern.substr(0, at);
  const auto after = pattern.substr(at + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  const auto word = name.substr(before.size(), name.size() - before.size() - after.size());
  if (pattern[at] == '~') return std::ranges::all_of(word, is_of_word) ? std::optional<std::int64_t>(1) : std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Instance> find_instance(std::string_view name) {
  const std::string lower = quantity::to_lower(quantity::trim(name));
  for (const Row& row : rows) {
    const auto number = number_in(lower, row.pattern);
    if (!number) continue;
    return Instance{row.gpu, row.cards > 0 ? row.cards : std::max<std::int64_t>(1, *number / row.cores)};
  }
  return std::nullopt;
}

}  // namespace llmcalc::read
