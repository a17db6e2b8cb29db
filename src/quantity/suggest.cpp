#include "quantity/suggest.hpp"

#include "quantity/text.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::quantity {

namespace {

constexpr std::size_t shortest_prefix = 2;  // one letter in common is no likeness
constexpr std::size_t usual_limit = 3;
constexpr std::size_t company = 2;  // how much further than the nearest name another may be

/// Damerau-Levenshtein distance in its optimal string alignment form: insertions, deletions, substitutions and
/// swaps of neighbours, each costing one (Damerau 1964; Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

bool one_begins_the_other(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= shortest_prefix && (a.starts_with(b) || b.starts_with(a));
}

/// How far `name` is from `word`, or nothing when it is too far to be meant.
std::optional<std::size_t> nearness(std::string_view word, std::string_view name) {
  if (word == name) return 0;
  if (one_begins_the_other(word, name)) return 1;
  const std::size_t limit = name.size() / 3 + 2;
  const std::size_t longer = std::max(word.size(), name.size());
  if (longer - std::min(word.size(), name.size()) > limit) return std::nullopt;
  const std::size_t distance = edit_distance(word, name);
  if (distance > limit || 2 * distance >= longer) return std::nullopt;  // half of it is another word
  return distance;
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view word, std::span<const std::string_view> names,
                                            std::size_t limit) {
  struct Candidate {
    std::size_t distance;
    std::string_view name;
  };
  const std::string wanted = to_lower(word);
  std::vector<Candidate> candidates;
  for (const auto name : names) {
    if (const auto distance = nearness(wanted, to_lower(name))) candidates.push_back({*distance, name});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::distance);
  std::vector<std::string_view> nearest;
  for (const auto& candidate : candidates) {
    if (nearest.size() == limit || candidate.distance > candidates.front().distance + company) break;
    if (std::ranges::find(nearest, candidate.name) == nearest.end()) nearest.push_back(candidate.name);
  }
  return nearest;
}

std::string one_of(std::span<const std::string_view> names) {
  if (names.empty()) return {};
  const auto count = std::min(names.size(), usual_limit);
  std::string question = "did you mean ";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) question += i + 1 == count ? " or " : ", ";
    question.append("'").append(names[i]).append("'");
  }
  return question + "?";
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names, std::string otherwise) {
  const auto near = nearest_names(word, names, usual_limit);
  return near.empty() ? std::move(otherwise) : one_of(near);
}

}  // namespace llmcalc::quantity
