// "Did you mean": the nearest names to a word nobody knows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::quantity {

/// At most `limit` of `names`, nearest first by Damerau-Levenshtein distance on lower-cased text, a shared prefix
/// counting as near. Names further off than a third of their length plus two are left out, and so
/// are names more than two steps further off than the nearest.
std::vector<std::string_view> nearest_names(std::string_view word, std::span<const std::string_view> names,
                                            std::size_t limit = 3);

/// "did you mean 'a', 'b' or 'c'?" of the first three; empty where there is none.
std::string one_of(std::span<const std::string_view> names);

/// "did you mean 'a', 'b' or 'c'?", or what is said where nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names, std::string otherwise = {});

}  // namespace llmcalc::quantity
