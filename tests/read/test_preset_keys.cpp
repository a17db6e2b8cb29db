// Whoever misspells a key or a name of a preset is told where and of what, whichever it is.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "read/presets/embedded_presets.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>

using namespace llmcalc;
using nlohmann::json;
using read::Catalogue;

namespace {

enum class Kind { model, accelerator };

std::optional<quantity::BadInput> mistake(Kind kind, const json& entry) try {
  const std::vector<read::PresetFile> file{{"mine.json", entry.dump()}};
  kind == Kind::model ? Catalogue(file, {}) : Catalogue({}, file);
  return {};
} catch (const quantity::BadInput& error) {
  return error;
}

/// Every key of the entry that `seen` lacks, misspelled by a letter, one at a time.
void misspell(Kind kind, const json& entry, const json::json_pointer& place, std::set<std::string>& seen) {
  const json object = entry[place];
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (!seen.insert((place / key).to_string()).second) continue;
    json wrong = entry;
    wrong[place].erase(key);
    wrong[place][key + 'x'] = value;
    CAPTURE(entry["id"], (place / key).to_string());
    const auto error = mistake(kind, wrong);
    REQUIRE(error);
    CHECK(error->place() == "mine.json:" + (place / (key + 'x')).to_string());
    CHECK_THAT(error->problem(), Catch::Matchers::Contains("'" + key + "x'"));
    CHECK_THAT(error->hint(), Catch::Matchers::Contains("'" + key + "'"));
    if (key != "config") misspell(kind, entry, place / key, seen);  // which is another's file
  }
}

}  // namespace

TEST_CASE("a key of a preset that is misspelled is named with its place and the right one, whichever it is") {
  for (const auto& [kind, table] :
       {std::pair{Kind::model, read::embedded_models()}, {Kind::accelerator, read::embedded_accelerators()}}) {
    std::set<std::string> seen;
    for (const auto& entry : table) misspell(kind, json::parse(entry.json), json::json_pointer(), seen);
    CHECK(seen.size() > 30);
  }
}

TEST_CASE("an accelerator needs one rate of products, whichever") {
  json gpu = json::parse(R"({"id": "mine", "memory": {"usable_mib": 1000, "bandwidth_gb_s": 100}})");
  gpu["peak_tflops"] = json::object();
  CHECK(mistake(Kind::accelerator, gpu).has_value());
  for (const char* type :
       {"fp64", "fp64_matrix", "fp32", "fp32_matrix", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"}) {
    CAPTURE(type);
    gpu["peak_tflops"] = {{type, 10}};
    CHECK_FALSE(mistake(Kind::accelerator, gpu).has_value());
  }
}

// presets/README.md: the characters that separate names and counts, `h100:8`, `a,b`, `a|b`.
TEST_CASE("a name of a preset may have every character but those that separate names") {
  const std::string separators = " :,|";
  for (char c = ' '; c < 127; ++c) {
    const bool separates = separators.find(c) != std::string::npos;
    const std::string name = std::string("to") + c + "y";
    CAPTURE(name);
    for (const char* key : {"id", "alias"}) {
      json gpu = json::parse(R"({"memory": {"usable_mib": 1000, "bandwidth_gb_s": 100}, "peak_tflops": {"bf16": 10}})");
      gpu["id"] = std::string(key) == "id" ? name : "mine";
      if (std::string(key) == "alias") gpu["aliases"] = json::array({name});
      CHECK(mistake(Kind::accelerator, gpu).has_value() == separates);
      if (!separates)
        CHECK(Catalogue({}, {{"mine.json", gpu.dump()}}).accelerator(name, "--gpu").accelerator.id == gpu["id"]);
    }
  }
}
