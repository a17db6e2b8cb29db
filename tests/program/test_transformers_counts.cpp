// Parameters of every model type against transformers' own models: class defaults and random legal variations, counted
// on PyTorch's meta device by scripts/compare-families, which wrote the file.
#include "catch.hpp"
#include "frameworks/profile.hpp"
#include "llmcalc/quantity/error.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/config.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// The configuration of a variation: pointer -> value, null for a key that is gone.
json varied(json config, const json& change) {
  for (const auto& [text, value] : change.items()) {
    const json::json_pointer pointer(text);
    if (!value.is_null()) {
      config[pointer] = value;
    } else if (config.contains(pointer.parent_pointer())) {
      config[pointer.parent_pointer()].erase(pointer.back());
    }
  }
  return config;
}

std::optional<std::int64_t> counted(const json& config) {
  try {
    auto question = test::ask(read::read_config(config.dump(), "config.json").shape, 16, 1);
    question.training.framework = spec::Framework::hf;
    return program::count_parameters(test::program_of(question)).total;
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

/// A router's correction bias is a buffer in transformers and an element of the published files.
bool is_exact(std::int64_t count, const json& counts) {
  const auto parameters = counts.at("parameters").get<std::int64_t>();
  return count == parameters || count == parameters + counts.at("corrections").get<std::int64_t>();
}

struct Tally {
  int exact = 0;
  int refused = 0;
  int wrong = 0;
};

Tally tally_of(const json& type) {
  Tally tally;
  const auto check = [&](const json& config, const json& counts) {
    const auto count = counted(config);
    ++(!count ? tally.refused : is_exact(*count, counts) ? tally.exact : tally.wrong);
  };
  check(type.at("config"), type.at("counts"));
  for (const json& one : type.at("variations")) check(varied(type.at("config"), one.at("change")), one.at("counts"));
  return tally;
}

std::vector<json> types() {
  std::vector<json> all;
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/counts.jsonl");
  for (std::string line; std::getline(file, line);) all.push_back(json::parse(line));
  return all;
}

std::map<std::string, Tally> tallies() {
  std::map<std::string, Tally> all;
  for (const json& type : types()) {
    if (!type.contains("problem")) all[type.at("type").get<std::string>()] = tally_of(type);
  }
  return all;
}

/// Names between commas, in lines of 118 columns.
void print_names(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t widest = 118;
  std::cout << "page: \npage: ## " << title << ": " << names.size() << "\npage: \n";
  std::string line;
  for (const auto& name : names) {
    const std::string word = "`" + name + (&name == &names.back() ? "`" : "`,");
    if (line.size() + 1 + word.size() > widest) std::cout << "page: " << std::exchange(line, {}) << '\n';
    line += (line.empty() ? "" : " ") + word;
  }
  std::cout << "page: " << line << '\n';
}

}  // namespace

/// scripts/update-families makes docs/families.md of what this prints.
TEST_CASE("the model types by how they are read", "[.families]") {
  std::map<std::string_view, std::vector<std::string>> by_state;
  for (const json& type : types()) {
    const bool compared = !type.contains("problem");
    const Tally tally = compared ? tally_of(type) : Tally{};
    const auto* state = !compared ? "none" : tally.exact == 0 ? "refused" : tally.refused > 0 ? "part" : "exact";
    by_state[state].push_back(type.at("type").get<std::string>());
  }
  print_names("Exact in all variations", by_state["exact"]);
  print_names("Some variations refused by name, the others exact", by_state["part"]);
  print_names("Refused by name", by_state["refused"]);
  print_names("Not compared, since transformers builds no model of class defaults or variations", by_state["none"]);
}

TEST_CASE("a model type that is accepted counts as transformers does, in all its variations") {
  int exact = 0;
  int accepted = 0;
  for (const auto& [name, tally] : tallies()) {
    INFO(name << ": exact " << tally.exact << ", refused " << tally.refused << ", wrong " << tally.wrong);
    CHECK(tally.wrong == 0);
    if (tally.exact > 0) ++accepted;
    if (tally.exact > 0 && tally.refused == 0) ++exact;
  }
  CHECK(accepted >= 323);
  CHECK(exact >= 318);
}

TEST_CASE("a model type that is refused says what no kind of layer describes") {
  int refused = 0;
  for (const json& type : types()) {
    if (!type.contains("config") || tally_of(type).exact > 0) continue;
    INFO(type.at("type"));
    CHECK_THROWS_WITH(read::read_config(type.at("config").dump(), "config.json"),
                      Catch::Matchers::Contains("is not described"));
    ++refused;
  }
  CHECK(refused <= 15);
}

namespace {

/// Files as publishers wrote them, beside what transformers' own classes count of them or what their cards say
/// (scripts/count-published). A new one joins by a line; one that cannot be read says why.
int exact_in(const std::string& name) {
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/" + name);
  int exact = 0;
  for (std::string line; std::getline(file, line);) {
    const json model = json::parse(line);
    INFO(model.at("id"));
    REQUIRE(model.contains("by"));
    REQUIRE(model.contains("facts"));
    if (model.contains("refused")) {
      CHECK_THROWS_WITH(read::read_config(model.at("config").dump(), "config.json"),
                        Catch::Matchers::Contains(model.at("refused").get<std::string>()));
      continue;
    }
    const auto count = counted(model.at("config"));
    REQUIRE(count);
    INFO(*count);
    CHECK(is_exact(*count, model.at("counts")));
    ++exact;
  }
  return exact;
}

}  // namespace

TEST_CASE("a published configuration counts what its class does, or is refused for what it has") {
  CHECK(exact_in("published.jsonl") >= 380);
}

namespace {

/// The text model's object of a configuration.
json& text_model(json& config) {
  for (const auto* key : {"text_config", "thinker_config", "decoder"}) {
    if (config.contains(key) && config[key].is_object()) return text_model(config[key]);
  }
  return config;
}

bool lists(const std::vector<std::string>& unread, const std::string& key) {
  return std::ranges::any_of(unread, [&](const std::string& pointer) { return pointer.ends_with("/" + key); });
}

/// Of a family that reads nothing: what it does not list is on the list of keys from which no size follows.
std::vector<std::string> unread_by_nobody(const json& config) {
  const read::PresetFile nobody{"nobody.json", R"({"id": "nobody", "source": "none", "shape": {"hidden": 8, "layers": 1,
      "heads": 1, "kv_heads": 1, "head_dim": 8, "ffn": 8, "vocab": 8, "max_position": 8, "norm": "rmsnorm",
      "position": "rope", "activation": "'silu'", "gated": true}})"};
  return read::read_config(config.dump(), "config.json", {"nobody", {nobody}}).unread;
}

/// Another value of the same kind; null where there is none.
json another(const json& value) {
  if (value.is_number_integer() && value != 0) return value.get<std::int64_t>() * 2;
  return value.is_boolean() ? json(!value.get<bool>()) : json();
}

/// Keys of a type's text model that move its count and that nobody would miss.
std::vector<std::string> unmissed(json config) {
  std::vector<std::string> keys;
  const auto before = counted(config);
  const json text = text_model(config);
  for (const auto& [key, value] : text.items()) {
    const json changed = another(value);
    if (changed.is_null()) continue;
    text_model(config)[key] = changed;
    const auto after = counted(config);
    // What is switched off says nothing, so that a switch is told by its being on.
    const bool moves = after && after != before && changed != false;
    if (moves && !lists(unread_by_nobody(config), key)) keys.push_back(key);
    text_model(config)[key] = value;
  }
  return keys;
}

}  // namespace

/// Beside Pi0, whose text model lies below its vision model's, so that what stands beside that is nobody's text.
TEST_CASE("a key that moves the count of any type would be listed if nothing read it", "[long]") {
  for (const json& type : types()) {
    if (!type.contains("config") || type.at("type") == "pi0") continue;
    INFO(type.at("type"));
    CHECK(unmissed(type.at("config")) == std::vector<std::string>{});
  }
}

/// Beside the sizes that are counted these hold a codebook, an adapter, the bias of a projector, a patch of video and a
/// window, which no expression follows.
TEST_CASE("of a file as its class writes it nothing is unread but what is known to be, and a key of nobody is listed") {
  const std::set<std::string> known = {
      "emu3", "granite_speech", "granite_speech_plus", "moss_transcribe_diarize", "nemotron_h_omni", "unlimited_ocr"};
  for (const json& type : types()) {
    if (!type.contains("config") || !counted(type.at("config"))) continue;
    INFO(type.at("type"));
    json config = type.at("config");
    const bool reads_all = read::read_config(config.dump(), "config.json").unread.empty();
    CHECK(reads_all != known.contains(type.at("type").get<std::string>()));
    text_model(config)["width_of_nobody"] = 8;
    CHECK(lists(read::read_config(config.dump(), "config.json").unread, "width_of_nobody"));
  }
}

/// Class defaults under each word of tie_word_embeddings and its kin: which tables are one follows the class.
TEST_CASE("tables are tied as each class ties them") { CHECK(exact_in("ties.jsonl") >= 25); }

/// Random variations that lose some of their keys, nested ones too (scripts/draw-families): what is left out is what
/// the class has by itself, or the file is refused.
TEST_CASE("a file that leaves keys out counts what its class makes of it, or is refused") {
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/drawn.jsonl");
  int exact = 0;
  for (std::string line; std::getline(file, line);) {
    const json drawn = json::parse(line);
    INFO(drawn.at("id"));
    const auto count = counted(drawn.at("config"));
    if (count) CHECK(is_exact(*count, drawn.at("counts")));
    exact += count.has_value() ? 1 : 0;
  }
  CHECK(exact >= 150);
}
