// Models that people publish, as llama.cpp's converter writes them: the metadata of a GGUF gives the shape of the
// config.json that it was made of, for every architecture that is known under a name of llama.cpp's.
#include "catch.hpp"
#include "gguf_writer.hpp"
#include "llmcalc/quantity/error.hpp"
#include "program/count.hpp"
#include "program/questions.hpp"
#include "read/checkpoint.hpp"
#include "read/config.hpp"
#include "read/presets.hpp"
#include "read/shape_difference.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// llama.cpp gguf-py/gguf/constants.py, MODEL_ARCH_NAMES, and the classes of convert_hf_to_gguf.py that have them.
struct ConvertedAs {
  std::string_view gguf;
  std::string_view model_type;
};
constexpr ConvertedAs converted_as[] = {
#include "formats/gguf_architectures.inc"
    {"llama", "mixtral"},
    {"deepseek2", "deepseek_v2"},
    {"deepseek2", "deepseek_v3"},
};

/// A key of config.json, and what it is called behind the architecture (gguf-py/gguf/constants.py, Keys).
struct ConvertedKey {
  std::string_view gguf;
  std::string_view config;
  std::string_view term = {};
};
constexpr ConvertedKey converted_keys[] = {
#include "formats/gguf_keys.inc"
};

/// GPT-2's and BLOOM's own names (transformers attribute_map).
std::string_view older_name(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"num_hidden_layers", "n_layer"},
                                                                     {"num_attention_heads", "n_head"},
                                                                     {"num_key_value_heads", "num_kv_heads"},
                                                                     {"hidden_size", "n_embd"},
                                                                     {"max_position_embeddings", "n_positions"}};
  const auto* found = std::ranges::find(names, key, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(names) ? std::string_view() : found->second;
}

/// What a converter writes of a config.json; empty where it has no number for a key in one piece.
std::optional<test::GgufWriter> converted(const json& config, std::string_view architecture, const spec::Shape& shape) {
  test::GgufWriter file;
  file.text("general.architecture", architecture);
  const std::string prefix = std::string(architecture) + ".";
  const auto number = [&](std::string_view key) {
    std::optional<std::uint32_t> said;
    for (const auto name : {key, older_name(key)}) {
      const auto found = config.find(std::string(name));
      if (!said && found != config.end() && found->is_number_unsigned()) said = found->get<std::uint32_t>();
    }
    return said;
  };
  for (const auto& key : converted_keys) {
    auto value = number(key.config);
    if (key.config == "num_experts" && !value) value = number("num_local_experts");
    if (key.config == "num_experts" && !value) value = number("n_routed_experts");
    if (value) file.count(prefix + std::string(key.gguf), *value);
  }
  // DeepseekV2Model: how its experts are chosen (ExpertGatingFuncType), and beside the widths of whole heads those of
  // latent attention.
  if (config.contains("kv_lora_rank")) {
    file.count(prefix + "expert_gating_func", config.value("scoring_func", "softmax") == "sigmoid" ? 2 : 1);
  }
  if (const auto rope = number("qk_rope_head_dim")) {
    file.count(prefix + "rope.dimension_count", *rope);
    file.count(prefix + "attention.key_length_mla", *rope + number("qk_nope_head_dim").value_or(0));
    file.count(prefix + "attention.value_length_mla", number("v_head_dim").value_or(0));
  }
  const std::uint64_t hidden = number("hidden_size").value_or(0), vocabulary = number("vocab_size").value_or(0);
  if (hidden % 32 != 0 || hidden == 0 || vocabulary == 0) return std::nullopt;
  file.tensor("token_embd.weight", {hidden, vocabulary}, 1, 2 * hidden * vocabulary);
  if (config.value("new_decoder_architecture", false)) file.tensor("blk.0.attn_norm_2.weight", {hidden}, 0, 4 * hidden);
  if (shape.qkv_bias) file.tensor("blk.0.attn_q.bias", {hidden}, 0, 4 * hidden);
  if (shape.qk_norm != spec::QkNorm::none) file.tensor("blk.0.attn_q_norm.weight", {hidden}, 0, 4 * hidden);
  if (!shape.tied) file.tensor("output.weight", {hidden, vocabulary}, 1, 2 * hidden * vocabulary);
  return file;
}

std::int64_t counted(const spec::Shape& shape) {
  return program::count_parameters(test::program_of(test::ask(shape, 128, 1))).total;
}

}  // namespace

namespace {

/// Files of config.json: those that presets carry, and those of tests/read/configs.
std::vector<std::string> published_configs() {
  std::vector<std::string> texts;
  for (const auto& preset : read::Catalogue().models()) {
    if (!preset.config.empty()) texts.push_back(preset.config);
  }
  for (const auto& entry : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/read/configs")) {
    std::ifstream file(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

}  // namespace

TEST_CASE("a model's GGUF has the parameters of its config.json, whatever its architecture") {
  std::set<std::string_view> architectures;
  int models = 0;
  for (const auto& text : published_configs()) {
    const json config = json::parse(text, nullptr, true, true);
    const auto type = config.value("model_type", "");
    const auto shape = read::read_config(text, "config.json").shape;
    for (const auto& each : converted_as) {
      const bool is_refused = config.value("alibi", false) && each.gguf == "falcon";  // by the converter: no Falcon-RW
      if (each.model_type != type || is_refused) continue;
      const auto file = converted(config, each.gguf, shape);
      if (!file) continue;
      CAPTURE(each.gguf, text);
      const auto header = file->header();
      const auto read = read::read_gguf({header, file->size()}, "m.gguf");
      REQUIRE(read.checkpoint.has_value());
      REQUIRE(read.checkpoint->config.has_value());
      const auto again = read::read_config(read.checkpoint->config->json, "m.gguf").shape;
      INFO(difference(shape, again));
      CHECK(counted(again) == counted(shape));
      architectures.insert(each.gguf);
      ++models;
    }
  }
  CHECK(models > 40);
  CHECK(architectures.size() > 12);
}
