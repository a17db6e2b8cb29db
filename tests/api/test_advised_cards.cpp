// Accelerators that are offered in the place of one that is too small.
#include "api/asked.hpp"
#include "catch.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

bool is_part(const spec::Accelerator& gpu) { return gpu.memory_type.starts_with("HBM"); }

}  // namespace

TEST_CASE("cards are offered before parts of data centres, and those with a price before those without") {
  const read::Catalogue catalogue;
  std::size_t offered = 0;
  for (const auto& preset : catalogue.accelerators()) {
    const auto& present = preset.accelerator;
    CAPTURE(present.id);
    const auto larger = api::larger_than(present, catalogue);
    offered += larger.size();
    for (const auto& gpu : larger) {
      CHECK(gpu->vendor == present.vendor);
      CHECK(gpu.memory_usable == gpu->memory_usable);
      CHECK(gpu.memory_usable > present.memory_usable);
      if (is_part(present)) CHECK(is_part(*gpu));
    }
    for (std::size_t i = 1; i < larger.size(); ++i) {
      const auto& before = *larger[i - 1];
      const auto& gpu = *larger[i];
      CAPTURE(before.id, gpu.id);
      if (is_part(before)) CHECK(is_part(gpu));
      if (is_part(before) != is_part(gpu)) continue;
      CHECK(before.price_per_hour.has_value() == gpu.price_per_hour.has_value());
      if (!gpu.price_per_hour) continue;
      const bool alike = larger[i - 1].memory_usable / larger[i].memory_usable > 0.99;
      if (alike) CHECK(before.price_per_hour <= gpu.price_per_hour);
      if (!alike) CHECK(larger[i - 1].memory_usable < larger[i].memory_usable);
    }
  }
  CHECK(offered > 100);
}

TEST_CASE("somebody with a card of 24 GB is offered a larger card, with its price") {
  const read::Catalogue catalogue;
  for (const std::string id : {"rtx-3090", "rtx-4090", "rtx-3060-12", "rtx-4070", "rtx-2080-ti"}) {
    CAPTURE(id);
    const auto larger = api::larger_than(catalogue.accelerator(id, "--gpu").accelerator, catalogue);
    REQUIRE_FALSE(larger.empty());
    CHECK_FALSE(is_part(*larger.front()));
    CHECK(larger.front()->price_per_hour.has_value());
  }
}
