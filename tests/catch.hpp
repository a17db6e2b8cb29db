// Catch2 under one name: version 2 is a single header, version 3 is many. Tests use version 2's names.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <concepts>
#include <string>
#include <utility>

using Catch::Approx;

namespace Catch::Matchers {
/// Version 3 took this name for ranges; for a piece of text ours is the more constrained, so the better match.
template <class Text>
requires std::convertible_to<Text, std::string>
auto Contains(Text&& text) { return ContainsSubstring(std::string(std::forward<Text>(text))); }
}  // namespace Catch::Matchers
#else
#include <catch2/catch.hpp>
#endif
