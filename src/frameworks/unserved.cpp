#include "frameworks/unserved.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

namespace llmcalc::frameworks {

namespace {

using spec::Engine;
using spec::Release;

constexpr Unserved unserved[] = {
#include "releases/unserved.inc"
};

bool names(std::string_view families, std::string_view family) {
  while (!families.empty()) {
    if (quantity::take_until(families, " ") == family) return true;
  }
  return false;
}

}  // namespace

const Unserved* find_unserved(Engine engine, std::string_view family) {
  return quantity::find_if_or_null(
      unserved, [&](const auto& row) { return row.engine == engine && names(row.families, family); });
}

}  // namespace llmcalc::frameworks
