// Files whose towers have a number that no model has: what a file says of its encoders is read before anybody asks
// about images, so that no such number may end an answer in anything but a figure or a refusal by name.
#include "api/asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "read/presets/embedded_presets.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

const std::vector<read::Given> on_one_card{{"gpu", "h100-sxm", {read::Source::flag, "--gpu"}}};

/// A server's advice reads, weighs and cuts the model over more ranks than it was made for.
void check_answered(const json& config) {
  static const read::Catalogue catalogue;
  try {
    api::serve(on_one_card, read::ConfigText{"config.json", config.dump()}, catalogue, {});
  } catch (const quantity::BadInput& error) {
    CHECK_FALSE(error.problem().empty());
  }
}

bool is_tower(const std::string& key, const json& part) {
  return part.is_object() && key.ends_with("_config") && key != "text_config";
}

}  // namespace

TEST_CASE("a tower with a number that no model has is answered or refused by name", "[long]") {
  std::set<std::string> types;
  int changed = 0;
  for (const auto& preset : read::embedded_models()) {
    const json config = json::parse(preset.json).value("config", json::object());
    if (!types.insert(config.value("model_type", std::string())).second) continue;
    for (const auto& [part, tower] : config.items()) {
      if (!is_tower(part, tower)) continue;
      for (const auto& [key, value] : tower.items()) {
        if (!value.is_number()) continue;
        for (const std::int64_t odd : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'000'000'000}}) {
          CAPTURE(preset.id, part, key, odd);
          json other = config;
          other[part][key] = odd;
          check_answered(other);
          ++changed;
        }
      }
    }
  }
  CHECK(changed > 1000);
}
