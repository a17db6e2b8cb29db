#include "render/inner/memory_unit.hpp"

#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <array>

namespace llmcalc::render {

using quantity::Bytes;

namespace {

constexpr std::array binary_units{
    MemoryUnit{"MiB", quantity::mib(1)},
    MemoryUnit{"GiB", quantity::gib(1)},
    MemoryUnit{"TiB", quantity::gib(quantity::kibi)},
    MemoryUnit{"PiB", quantity::gib(quantity::mebi)},
    MemoryUnit{"EiB", quantity::gib(quantity::gibi)},
};

constexpr std::array decimal_units{
    MemoryUnit{"MB", quantity::bytes(1'000'000)},
    MemoryUnit{"GB", quantity::bytes(1'000'000'000)},
    MemoryUnit{"TB", quantity::bytes(1'000'000'000'000)},
};

}  // namespace

std::optional<MemoryUnit> find_memory_unit(std::string_view name) {
  const auto* unit = quantity::find_or_null(binary_units, name, &MemoryUnit::name);
  if (unit == nullptr) unit = quantity::find_or_null(decimal_units, name, &MemoryUnit::name);
  return unit == nullptr ? std::nullopt : std::optional(*unit);
}

MemoryUnit memory_unit_for(Bytes largest) {
  const auto fills = [&](const MemoryUnit& unit) { return unit.size <= largest; };
  const auto* unit = quantity::find_last_if_or_null(binary_units, fills);
  return unit == nullptr ? binary_units.front() : *unit;
}

std::string in_unit(Bytes value, const MemoryUnit& unit) { return fmt::format("{:.2f}", value / unit.size); }

std::string share_text(double share) {
  constexpr double rounds_to_nothing = 0.005;  // half a percent, which "{:.0f}" rounds to the even 0
  if (share > 0 && share <= rounds_to_nothing) return "<1 %";
  return fmt::format("{:.0f} %", share * 100);
}

}  // namespace llmcalc::render
