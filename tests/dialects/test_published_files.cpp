// Files that people wrote, as the goldens of `from` have them, with one of their numbers or switches changed: what the
// tables do not call harmless says something else then.
#include "catch.hpp"
#include "dialects/core/format.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {
namespace {

using std::filesystem::path;

std::optional<std::string> text_at(const path& file) {
  if (!std::filesystem::is_regular_file(file)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The settings of a file of YAML, JSON or TOML; nothing where it is none, or holds no table.
std::optional<Settings> settings_of(const path& file) {
  const auto text = text_at(file);
  if (!text || text->size() > 100'000) return std::nullopt;
  try {
    const auto ending = file.extension();
    if (ending == ".toml") return flat(parse_toml(*text, "f"));
    if (ending == ".json") return flat(parse_commented_json(*text, "f"));
    if (ending == ".yaml" || ending == ".yml") return flat(parse_yaml(*text, "f"));
  } catch (const quantity::BadInput&) {
  }
  return std::nullopt;
}

/// Everything that is said of the settings, and of a refusal why.
std::string told_of(const Format& format, const Settings& settings, const path& folder) {
  const FindFile beside = [&](const std::string& name) -> std::optional<NamedFile> {
    const auto text = text_at(folder / name);
    return text ? std::optional(NamedFile{name, *text}) : std::nullopt;
  };
  std::string told;
  try {
    const Reading reading = Reader(beside).settings(format, settings, "f");
    for (const auto& word : reading.words) told += word.term + '=' + word.text + '\n';
    for (const auto& word : reading.open) told += word.term + '?' + word.text + '\n';
    for (const auto& one : reading.assumptions) told += one.words + '\n';
    for (const auto& key : reading.unread) told += key + '\n';
  } catch (const quantity::BadInput& refused) {
    told = refused.what();
  }
  return told;
}

/// Other values of a number or a switch; none of a word.
std::vector<std::string> others_of(const std::string& value) {
  if (value == "true") return {"false"};
  if (value == "false") return {"true"};
  if (!value.empty() && value.find_first_not_of("0123456789") == value.npos) return {value + "0", "1", "2", "3", "0"};
  if (quantity::is_number(value)) return {"0.75", "3", "0"};
  return {};
}

/// Keys that a file may have without saying anything by it, and why.
struct Silent {
  std::string_view format, key, why;
};
constexpr Silent silent_keys[] = {
    {"DeepSpeed", "fp16.enabled", "bf16 is on beside it"},
    {"LLaMA-Factory", "fsdp_version", "its second framework has FSDP2 alone"},
    {"MaxText", "data_parallelism", "a degree of -1 beside it is the rest of the accelerators"},
    {"MaxText", "dcn_fsdp_parallelism", "the same"},
    {"NeMo-RL", "dtensor_cfg.", "its worker is switched off, or its adapters are"},
    {"NeMo-RL", "megatron_cfg.", "its worker is switched off"},
    {"accelerate", "fsdp_version", "the parallelism beside it is of FSDP2 alone"},
    {"axolotl", "load_in_8bit", "four bits beside it"},
    {"axolotl", "tf32", "of runs in bf16 it moves nothing"},
    {"prime-rl", "deployment.num_infer_", "servers of samples are machines of their own"},
    {"prime-rl", "orchestrator.batch_size", "samples of a step are packed into rows of another number"},
    {"torchtune", "batch_size", "of PPO's recipe, samples that are made at once"},
};

bool may_be_silent(const Format& format, std::string_view key) {
  return std::ranges::any_of(silent_keys, [&](const Silent& one) {
    return format.name.starts_with(one.format) && key.find(one.key) != key.npos;
  });
}

/// Whether its row names it, without the levels of a file that others leave out, and not all that begin so.
bool is_named(const Format& format, std::string key) {
  const FormatRow* row = find_row(format, key);
  while (row != nullptr && row->use == Use::block) {
    for (const auto level : quantity::pieces_of(row->key, " ")) {
      if (key.starts_with(level.substr(0, level.size() - 1))) key.erase(0, level.size() - 1);
    }
    row = find_row(format, key);
  }
  return row != nullptr && row->use != Use::harmless && quantity::contains(quantity::pieces_of(row->key, " "), key);
}

Settings with(const Settings& settings, std::string_view key, const std::string& value) {
  Settings all;
  for (Setting each : settings.all()) {
    if (each.key == key) each.text = value;
    all.put(std::move(each));
  }
  return all;
}

}  // namespace

TEST_CASE("a number or a switch of a published file says something else when it is changed") {
  std::size_t changed = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    const auto folder = entry.path().parent_path();
    const auto settings = folder.filename().string().starts_with("from-") ? settings_of(entry.path()) : std::nullopt;
    if (!settings || settings->all().empty()) continue;
    const auto reads = [&](const Format& one) { return recognizes(one, *settings); };
    const auto* format = quantity::find_if_or_null(formats(), reads);
    if (format == nullptr) continue;
    const auto before = told_of(*format, *settings, folder);
    if (before.starts_with("f:")) continue;  // a file that is refused says nothing beyond that
    for (const auto& setting : settings->all()) {
      const auto others = others_of(setting.text);
      if (others.empty() || !is_named(*format, setting.key)) continue;
      const bool is_heeded = std::ranges::any_of(others, [&](const std::string& other) {
        return told_of(*format, with(*settings, setting.key, other), folder) != before;
      });
      CAPTURE(folder.filename().string(), format->name, setting.key, setting.text);
      if (!is_heeded) CHECK(may_be_silent(*format, setting.key));
      ++changed;
    }
  }
  CHECK(changed > 300);
}

}  // namespace llmcalc::dialects
